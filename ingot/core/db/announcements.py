"""Announcements of changes to all processes: topics such as ``issue:7``, sent when the transaction commits.

They tell a process that shows something when to look again, and carry nothing else. A topic may be lost if a process
ends between its commit and the announcement, so nothing may depend on it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from sqlalchemy import bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from ingot.core.db.connection import Connection

CHANNEL = "ingot_changes"
"""Channel of the notifications of a PostgreSQL server."""
EVERYTHING = "*"
"""Topic of a message that would be too long, or after messages may have been lost: anything may have changed."""
MAX_MESSAGE_BYTES = 4000
"""Longest message that a pipe and a notification transfer as a whole."""


class Listener(Protocol):
    """Receives the topics that any process announces."""

    def wait(self, seconds: float, others: Sequence[int]) -> list[str]:
        """Return the topics since the last call, as soon as there are some, ``others`` are readable or time is over."""

    def close(self) -> None:
        """Stop listening."""


class notify_listeners(FunctionElement[None]):  # noqa: N801 - It reads as an SQL function where it is used.
    """Function that sends a message to all listeners after the commit; a no-op in SQLite."""

    type = NullType()
    inherit_cache = True


@compiles(notify_listeners, "sqlite")
def _notify_listeners_sqlite(element: notify_listeners, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - Signature of SQLAlchemy.
    return "NULL"


@compiles(notify_listeners, "postgresql")
def _notify_listeners_postgresql(element: notify_listeners, compiler: SQLCompiler, **options: Any) -> str:
    return f"pg_notify('{CHANNEL}', {compiler.process(element.clauses, **options)})"


NOTIFY_LISTENERS = select(notify_listeners(bindparam("message")))


def announce(db: Connection, *topics: str) -> None:
    """Announce changes when the transaction commits."""
    if topics:
        db.announced.update(topics)
        db.before_commit("announcements", _send)


def _send(db: Connection) -> None:
    db.run(NOTIFY_LISTENERS, message=encode_topics(db.announced))


def encode_topics(topics: Iterable[str]) -> str:
    """Return the message for topics: one on each line."""
    message = "".join(f"{topic}\n" for topic in sorted(topics))
    return message if len(message.encode()) <= MAX_MESSAGE_BYTES else f"{EVERYTHING}\n"


def decode_topics(messages: str) -> list[str]:
    """Return the topics of messages, each once."""
    return list(dict.fromkeys(messages.split("\n")[:-1]))
