"""Addresses from which a top-level group and everything below it may be used."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv6Address, ip_network

import msgspec
from msgspec.structs import replace
from sqlalchemy import select

from ingot.accounts.instance.settings import cached_stored_settings
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.core.outgoing.addresses import Network, is_in_networks, parse_address
from ingot.projects.namespaces.tables import namespaces

_RESTRICTED = (
    select(namespaces.c.full_path_key, namespaces.c.ip_restriction_ranges)
    .where(namespaces.c.ip_restriction_ranges > "", namespaces.c.parent_id.is_(None))
    .order_by(namespaces.c.id)
)
_Restrictions = tuple[tuple[str, str], ...]


class _AddressSettings(msgspec.Struct):
    """The setting that concerns addresses; all_settings.py declares it."""

    globally_allowed_ips: str | None = None


def stored_ranges(text: str | None) -> str | None:
    """Return a list of networks as it is stored; raise Invalid if one is not valid."""
    ranges = [part.strip() for part in (text or "").split(",") if part.strip()]
    for each in ranges:
        try:
            ip_network(each, strict=False)
        except ValueError:
            raise Invalid(ip_restriction_ranges=[f"{each[:100]} is an invalid IP address range"]) from None
    return ",".join(dict.fromkeys(ranges)) or None


def actor_at(db: Connection, actor: Actor, address: str) -> Actor:
    """Return the caller with the groups that cannot be used from an address; administrators use all."""
    closed = frozenset() if actor.admin else closed_groups(db, address)
    return replace(actor, closed_groups=closed) if closed else actor


def closed_groups(db: Connection, address: str) -> frozenset[str]:
    """Return the paths in lower case of the top-level groups that cannot be used from an address.

    The restrictions are in the read cache, so this costs no statement until a namespace changes.
    """
    restrictions = _cached_restrictions(db)
    if not restrictions:
        return frozenset()
    settings = msgspec.json.decode(cached_stored_settings(db).document, type=_AddressSettings)
    return _closed_groups(restrictions, settings.globally_allowed_ips or "", address)


def is_closed(actor: Actor, full_path: str) -> bool:
    """Return whether a group or project is below a group that the caller's address may not use."""
    return bool(actor.closed_groups) and _top_of(full_path) in actor.closed_groups


def is_restricted(db: Connection, full_path: str) -> bool:
    """Return whether a group or project is below a group that some addresses may not use."""
    return any(path == _top_of(full_path) for path, _ in _cached_restrictions(db))


def _top_of(full_path: str) -> str:
    """Return the path in lower case of the top-level group of a group or project."""
    return full_path.partition("/")[0].lower()


def _cached_restrictions(db: Connection) -> _Restrictions:
    return db.cached(("ip restrictions",), lambda: _restrictions(db), _size, lambda _: {}) or ()


def _restrictions(db: Connection) -> _Restrictions:
    return tuple((path, ranges) for path, ranges in db.rows(_RESTRICTED))


def _size(restrictions: _Restrictions) -> int:
    return 200 + sum(len(path) + len(ranges) + 200 for path, ranges in restrictions)


@lru_cache(1024)
def _closed_groups(restrictions: _Restrictions, always: str, text: str) -> frozenset[str]:
    address = parse_address(text)
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    return frozenset(
        path
        for path, ranges in restrictions
        if address is None or not is_in_networks(address, _networks(f"{ranges},{always}"))
    )


@lru_cache(256)
def _networks(text: str) -> Sequence[Network]:
    return [ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip()]
