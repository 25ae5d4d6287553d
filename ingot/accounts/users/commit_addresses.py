"""Addresses that commits name: confirmed ones, or private ones, which lead to no mailbox.

A private address contains the id of its user, so that it stays theirs after they are renamed.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

import msgspec

from ingot.accounts.instance.settings import cached_stored_settings
from ingot.accounts.users.details import user_details
from ingot.accounts.users.email_owners import user_ids_by_emails
from ingot.accounts.users.ports import PublicAddress
from ingot.accounts.users.queries import user_by_email_or_none, user_or_none, users_by_ids
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection

PRIVATE = "_private"
_BOT = re.compile(r"(?:[1-9][0-9]{0,17}-)?(?:project|group)_[0-9]+_bot_[0-9a-f]{32}@.+")
_PRIVATE_NAME = re.compile(r"([1-9][0-9]{0,17})-[^@]+")


class _CommitSettings(msgspec.Struct):
    """The setting that concerns private addresses; all_settings.py declares it."""

    commit_email_hostname: str | None = None


def private_commit_address(db: Connection, user: User) -> str:
    """Return the private address of a user."""
    return f"{user.id}-{user.username}@{_private_host(db)}"


def commit_address(db: Connection, user: User) -> str:
    """Return the address of a user in commits that pages and the API make."""
    chosen = user_details(user.details_document).commit_email
    return private_commit_address(db, user) if chosen == PRIVATE else chosen or user.email


def commit_user_or_none(db: Connection, address: str) -> User | None:
    """Return the user with an address of a commit; a private one comes first, because nobody can prove it."""
    number = private_owners(db, [address]).get(_normal(address))
    return (user_or_none(db, number) if number is not None else None) or user_by_email_or_none(db, address)


def commit_user_ids(db: Connection, addresses: Iterable[str]) -> dict[str, int]:
    """Return the ids of users by the addresses of commits in lower case."""
    normal = [_normal(address) for address in addresses]
    owners = private_owners(db, normal)
    existing = users_by_ids(db, owners.values()) if owners else {}
    return user_ids_by_emails(db, normal) | {
        address: user_id for address, user_id in owners.items() if user_id in existing
    }


def is_bot_address(address: str) -> bool:
    """Return whether an address of a commit has the form of those of bots, which may have been deleted since."""
    return "_bot_" in address and _BOT.fullmatch(address) is not None


def private_owners(db: Connection, addresses: Iterable[str]) -> dict[str, int]:
    """Return the ids of users by those addresses that are private ones; the users may not exist."""
    ending, owners = f"@{_private_host(db).lower()}", {}
    for address in map(_normal, addresses):
        name = _PRIVATE_NAME.fullmatch(address.removesuffix(ending)) if address.endswith(ending) else None
        if name is not None:
            owners[address] = int(name[1])
    return owners


def _private_host(db: Connection) -> str:
    document = cached_stored_settings(db).document
    host = msgspec.json.decode(document, type=_CommitSettings).commit_email_hostname
    return host or f"users.noreply.{urlsplit(db.ports[PublicAddress].base_url).hostname or 'localhost'}"


def _normal(address: str) -> str:
    return address.strip().lower()
