"""Queries of broadcast messages."""

from sqlalchemy import bindparam, select

from ingot.accounts.instance.tables import BroadcastMessage, broadcast_messages
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound

_BY_ID = select(broadcast_messages).where(broadcast_messages.c.id == bindparam("message"))
_ALL = list_query(select(broadcast_messages), broadcast_messages.c.id, broadcast_messages.c.id.asc())
_NOT_ENDED = (
    select(broadcast_messages).where(broadcast_messages.c.ends_at > bindparam("now")).order_by(broadcast_messages.c.id)
)
_MESSAGE_BYTES = 2_000


def list_broadcast_messages(db: Connection, page: Page) -> Listing[BroadcastMessage]:
    """List all messages, including past and future ones."""
    return fetch_page(db, BroadcastMessage, _ALL, page)


def broadcast_message_or_none(db: Connection, message_id: int) -> BroadcastMessage | None:
    """Return the message with this id."""
    return db.first(BroadcastMessage, _BY_ID, message=message_id)


def find_broadcast_message(db: Connection, message_id: int) -> BroadcastMessage:
    """Return the message with this id; raise NotFound otherwise."""
    message = broadcast_message_or_none(db, message_id)
    if message is None:
        raise NotFound("Broadcast Message")
    return message


def current_broadcasts(db: Connection) -> list[BroadcastMessage]:
    """List the messages that pages show now, the oldest first."""

    def read() -> tuple[BroadcastMessage, ...]:
        return tuple(db.all(BroadcastMessage, _NOT_ENDED, now=db.now))

    # Messages that have not begun are cached too: time passes without a commit.
    known = db.cached("broadcast messages", read, lambda messages: _MESSAGE_BYTES * (len(messages) + 1)) or ()
    return [message for message in known if message.starts_at <= db.now < message.ends_at]
