"""The networks from which each user has recently used the server, for the limit of their number."""

from sqlalchemy import bindparam, delete, select

from ingot.accounts.sessions.tables import UserAddress, user_addresses
from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration, to_datetime
from ingot.core.errors import TooManyAddresses

# Locks the row, so that requests from two networks at the same time cannot exceed the limit together.
_USER_FOR_UPDATE = select(users.c.id).where(users.c.id == bindparam("user")).with_for_update()
_OF_USER = (
    select(user_addresses)
    .where(user_addresses.c.user_id == bindparam("user"), user_addresses.c.ends_at > bindparam("now"))
    .order_by(user_addresses.c.ends_at)
)
_DELETE_ENDED = delete(user_addresses).where(user_addresses.c.ends_at <= bindparam("now"))
_DELETE_ENDED_OF_USER = _DELETE_ENDED.where(user_addresses.c.user_id == bindparam("user"))


def admit_address(db: Connection, user_id: int, network: str, limit: int, seconds: int) -> None:
    """Record that a user uses a network; raise TooManyAddresses if there are ``limit`` others already.

    A refused network is not recorded, so that a stranger with a token cannot displace those of its owner.
    """
    db.value(_USER_FOR_UPDATE, user=user_id)
    db.run(_DELETE_ENDED_OF_USER, user=user_id, now=db.now)
    addresses = db.all(UserAddress, _OF_USER, user=user_id, now=db.now)
    ends_at = add_duration(db.now, seconds=seconds)
    for address in addresses:
        if address.network == network:
            db.update(user_addresses, address.id, ends_at=ends_at)
            return
    if len(addresses) >= limit:
        wait = to_datetime(addresses[0].ends_at) - to_datetime(db.now)
        text = f"Too many addresses: each user may use {limit} in {seconds} seconds."
        raise TooManyAddresses(max(1, round(wait.total_seconds())), text=text)
    db.insert(user_addresses, user_id=user_id, network=network, ends_at=ends_at)


def delete_ended_addresses(db: Connection) -> None:
    """Delete the addresses that do not count any more."""
    db.run(_DELETE_ENDED, now=db.now)
