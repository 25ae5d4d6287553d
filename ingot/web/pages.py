"""Pages as data, like the API's endpoints: each is declared once, with its path and who may open it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar

import msgspec

from ingot.access.actor import NOBODY, Actor
from ingot.access.credentials import Credentials
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.http.request import Header, Origin
from ingot.settings import Settings
from ingot.users.accounts.tables import User
from ingot.users.sessions.tables import Session


class Visit(msgspec.Struct, frozen=True):
    """One visit of one page."""

    database: Database
    settings: Settings
    origin: Origin
    path: dict[str, str]
    query: dict[str, Any]
    form: dict[str, Any]
    user: User | None
    session: Session | None
    csrf: str
    """What forms on the page must send back."""
    credentials: Credentials = Credentials()
    """What programs bring, for pages that serve them too."""

    @property
    def signed_in(self) -> User:
        """The user, on pages that are not open."""
        assert self.user is not None  # noqa: S101 - The door lets nobody else in.
        return self.user

    @property
    def actor_or_nobody(self) -> Actor:
        """The visitor, on pages that are open."""
        return self.actor if self.user else NOBODY

    @property
    def actor(self) -> Actor:
        """The same for services."""
        user = self.signed_in
        return Actor(user.id, user.username, user.name, user.admin, user.external, "session")


STRICT_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; "
    b"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


class Page(msgspec.Struct):
    """A template and what it shows."""

    template: str
    context: dict[str, Any] = {}
    status: int = 200
    policy: bytes = STRICT_POLICY


class Redirect(msgspec.Struct):
    """Lead the browser elsewhere on this host."""

    location: str
    headers: list[Header] = []


class File(msgspec.Struct):
    """Bytes with their type."""

    content: bytes
    content_type: str
    headers: list[Header] = []


class StoredFile(msgspec.Struct):
    """An open file, sent piece by piece and then closed."""

    file: BinaryIO
    size: int
    content_type: str
    headers: list[Header] = []


Reply = Page | Redirect | File | StoredFile
Handler = Callable[[Visit], Reply]
ReadingHandler = Callable[[Visit, Connection], Reply]
H = TypeVar("H", bound=Callable[..., Reply])


@dataclass(slots=True)
class Place:
    """What is declared of one page."""

    method: str
    path: str
    handler: Callable[..., Reply]
    open: bool
    """Whether people who are not signed in may come."""
    with_expired_password: bool
    by_link: bool = False
    """Whether its address itself proves that it may be used, so that a form needs no token besides."""


@dataclass(slots=True)
class Pages:
    """The pages of one room; a read gets a connection, a form runs units of work of its own."""

    places: list[Place] = field(default_factory=list)

    def get(self, path: str, *, open: bool = False, with_expired_password: bool = False) -> Callable[[H], H]:
        """Declare a page to read; it runs inline."""
        return self._declare("GET", path, open, with_expired_password)

    def post(
        self, path: str, *, open: bool = False, with_expired_password: bool = False, by_link: bool = False
    ) -> Callable[[H], H]:
        """Declare what a form does; it runs in the pool, outside of any unit of work."""
        return self._declare("POST", path, open, with_expired_password, by_link)

    def put(self, path: str, *, open: bool = False, with_expired_password: bool = False) -> Callable[[H], H]:
        """The same for forms that say ``_method=put``."""
        return self._declare("PUT", path, open, with_expired_password)

    def delete(self, path: str, *, open: bool = False, with_expired_password: bool = False) -> Callable[[H], H]:
        """The same for forms that say ``_method=delete``."""
        return self._declare("DELETE", path, open, with_expired_password)

    def _declare(
        self, method: str, path: str, is_open: bool, with_expired_password: bool, by_link: bool = False
    ) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            self.places.append(Place(method, path, handler, is_open, with_expired_password, by_link))
            return handler

        return declare


def form_part(form: dict[str, Any], group: str, name: str) -> str:
    """The field ``group[name]`` of a form; nothing that is not one text gets through."""
    fields = form.get(group)
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, str) and "\0" not in value else ""


def local_path(text: Any) -> str | None:
    """``text``, if following it stays on this host."""
    if not isinstance(text, str) or not text.startswith("/") or text[1:2] in ("/", "\\"):
        return None
    return text if text.isprintable() and "\\" not in text else None
