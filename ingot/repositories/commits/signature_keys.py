"""Keys of the users in whose names commits and tags are signed, read for a whole list at once."""

from collections.abc import Iterable

import msgspec
from sqlalchemy import select

from ingot.accounts.keys.queries import gpg_keys_of_users, keys_by_fingerprints
from ingot.accounts.keys.tables import GpgKey, SshKey
from ingot.accounts.users.commit_addresses import private_owners
from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.tables import User, emails, users
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list

_BY_ADDRESS = select(users.c.email, users.c.id).where(
    in_list(users.c.email, "addresses"), users.c.proven_at.is_not(None)
)
_BY_OTHER_ADDRESS = select(emails.c.email, emails.c.user_id).where(
    in_list(emails.c.email, "addresses"), emails.c.proven_at.is_not(None)
)


class SignatureKeys(msgspec.Struct, frozen=True):
    """Keys that may verify a list of signatures."""

    signers: dict[str, User]
    """Active users by their verified addresses."""
    gpg_keys: dict[int, list[GpgKey]]
    """GPG keys of the signers by user."""
    ssh_keys: dict[str, SshKey]
    """SSH keys by fingerprint, of any user."""


def normal_address(address: str) -> str:
    """Return an address as it is stored."""
    return address.strip().lower()


def read_signature_keys(db: Connection, addresses: Iterable[str], fingerprints: Iterable[str]) -> SignatureKeys:
    """Read the users with these addresses and the keys that may have signed in their names."""
    normal = sorted({normal_address(address) for address in addresses})
    rows = [row for statement in (_BY_ADDRESS, _BY_OTHER_ADDRESS) for row in db.rows(statement, addresses=normal)]
    private = private_owners(db, normal)
    owners = users_by_ids(db, [*(user_id for _, user_id in rows), *private.values()])
    # The oldest account has an address first, so that a later one cannot take its signatures.
    signers = {
        address: owners[user_id]
        for address, user_id in (*sorted(rows, reverse=True), *private.items())
        if user_id in owners and owners[user_id].state == "active"
    }
    gpg_keys = gpg_keys_of_users(db, {user.id for user in signers.values()})
    return SignatureKeys(signers, gpg_keys, keys_by_fingerprints(db, fingerprints))
