"""Who comes to git's doors over HTTP, and whether they may do what they ask for."""

import asyncio
import base64
import binascii
import re
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from ingot.accounts.instance.settings import GitProtocol
from ingot.accounts.sessions.service import check_password
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.http.request import Header, Request, Trace
from ingot.errors import NotFound, Throttled, Unauthenticated, Unavailable
from ingot.projects.projects.tables import Project
from ingot.settings import Settings
from ingot.transport.activity import ActivityTracker
from ingot.transport.callers import Authenticate, anonymous_caller, caller_by_secret, caller_by_user
from ingot.transport.policy import Service, protocol_refusal, service_refusal
from ingot.transport.targets import GitTarget, find_target, target_refusal

T = TypeVar("T")
RETRY_AFTER_SECONDS = 10
NO_PROJECT_PATH = "/"
"""A path that no project has."""
_TOKEN_PATTERN = re.compile(r"ingot[a-z]-[\w.-]{20,}")
_CHALLENGE: Header = (b"www-authenticate", b'Basic realm="Ingot"')

TargetLookup = Callable[..., tuple[T, str | None, str]]
"""What lies at a path, why the caller may not use it, and what the log calls them."""
TokenParser = Callable[[str], Authenticate | None]
"""How a secret is proven that only one door takes; nothing where it is of another kind."""


class GitRequestRefused(Exception):
    """An answer in words that people read in their terminal."""

    def __init__(self, status: int, text: str, *headers: Header) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers


class CallerClaim(NamedTuple):
    """A caller who has shown who they are, or came with nothing."""

    known: bool
    authenticate: Authenticate
    protocol: GitProtocol = "http"
    """Over what they came; who got their token over SSH only goes on over HTTP."""


class GitAuthorizer:
    """Lets callers in, or raises ``Refused`` with what their client is told."""

    def __init__(self, settings: Settings, database: Database, pool: Executor, activity: ActivityTracker) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool
        self._activity = activity

    async def claim(self, request: Request, own_token: TokenParser | None = None) -> CallerClaim:
        """How the caller proves who they are: by a token where that is one, else by the password."""
        brought = _basic_credentials(request.headers)
        if brought is None:
            return CallerClaim(False, anonymous_caller)
        username, secret = brought
        own = own_token(secret) if own_token is not None else None
        if own is not None:
            try:
                return self._claimed(own)._replace(protocol="ssh")
            except Unauthenticated:
                raise unauthorized() from None
        for name, word in ((username, secret), ("", username)):
            try:
                return self._claimed(partial(caller_by_secret, username=name, secret=word))
            except Unauthenticated:
                continue
        if _TOKEN_PATTERN.fullmatch(secret):
            # One that has ended: a machine that goes on with it must not use up its user's tries to sign in.
            raise unauthorized()
        by_password = await self._by_password(request, username, secret)
        try:
            return self._claimed(by_password)
        except Unauthenticated:  # Blocked in this very moment.
            raise unauthorized() from None

    def _claimed(self, authenticate: Authenticate) -> CallerClaim:
        self._activity.note(self._read(authenticate).actor)
        return CallerClaim(True, authenticate)

    async def _by_password(self, request: Request, username: str, secret: str) -> Authenticate:
        try:
            origin = request.origin
            brought = (username, secret, origin.ip, origin.user_agent, self._settings)
            check = partial(check_password, self._database, *brought)
            user = await asyncio.get_running_loop().run_in_executor(self._pool, check)
        except Unauthenticated:
            raise unauthorized() from None
        except Throttled as error:
            raise GitRequestRefused(
                429, "Too many failed sign-ins. Retry later.", (b"retry-after", b"%d" % error.retry_after)
            ) from None
        except Unavailable:
            raise service_unavailable("The server cannot answer right now. Retry later.") from None
        if user.two_factor_enabled:
            # A password alone must not open such an account.
            text = "HTTP Basic: Access denied. You have 2FA enabled: use a personal access token for git over HTTP."
            raise GitRequestRefused(401, text, _CHALLENGE)
        return partial(caller_by_user, user_id=user.id)

    def authorize(self, claim: CallerClaim, raw_path: bytes, service: Service, trace: Trace) -> Project:
        """The project at a path, where the caller may use the service."""
        return self._admitted(claim, raw_path, trace, partial(_look_up_project, claim=claim, service=service))

    def authorize_target(self, claim: CallerClaim, raw_path: bytes, service: Service, trace: Trace) -> GitTarget:
        """The same for wikis too."""
        return self._admitted(claim, raw_path, trace, partial(_look_up_target, claim=claim, service=service))

    def _admitted(self, claim: CallerClaim, raw_path: bytes, trace: Trace, look: TargetLookup[T]) -> T:
        try:
            path = unquote(raw_path.decode("ascii"), errors="strict")
        except UnicodeDecodeError:
            path = ""
        if "/" not in path or "\0" in path:
            path = NO_PROJECT_PATH  # A number would be taken for a project's, and PostgreSQL takes no NUL.
        try:
            found, denied, user = self._read(partial(look, path=path))
        except NotFound:
            if not claim.known:
                # Whether it is hidden or not there shows only to those who may know.
                raise unauthorized() from None
            text = "The project you were looking for could not be found or you don't have permission to view it."
            raise GitRequestRefused(404, text) from None
        except Unauthenticated:
            raise unauthorized() from None
        trace.user = user
        if denied is not None:
            raise GitRequestRefused(403, denied) if claim.known else unauthorized()
        return found

    def _read(self, work: Callable[[Connection], T]) -> T:
        try:
            return self._database.read(work)
        except Unavailable:
            raise service_unavailable("The server cannot answer right now. Retry later.") from None


def unauthorized() -> GitRequestRefused:
    """Ask for credentials."""
    text = (
        "HTTP Basic: Access denied. Use your password, or a token with the scope read_repository or write_repository."
    )
    return GitRequestRefused(401, text, _CHALLENGE)


def service_unavailable(text: str) -> GitRequestRefused:
    """Ask to come back."""
    return GitRequestRefused(503, text, (b"retry-after", b"%d" % RETRY_AFTER_SECONDS))


def _look_up_project(
    db: Connection, claim: CallerClaim, path: str, service: Service
) -> tuple[Project, str | None, str]:
    _require_protocol_allowed(db, claim)
    caller = claim.authenticate(db)
    access, project = caller.find(db, path)
    return project, service_refusal(caller, access, project, service), caller.name


def _look_up_target(
    db: Connection, claim: CallerClaim, path: str, service: Service
) -> tuple[GitTarget, str | None, str]:
    _require_protocol_allowed(db, claim)
    caller = claim.authenticate(db)
    access, target = find_target(db, caller, path)
    return target, target_refusal(caller, access, target, service), caller.name


def _require_protocol_allowed(db: Connection, claim: CallerClaim) -> None:
    """Say it to everybody, before anything is asked of them: no password would help."""
    closed = protocol_refusal(db, claim.protocol)
    if closed is not None:
        raise GitRequestRefused(403, closed)


def _basic_credentials(headers: dict[bytes, bytes]) -> tuple[str, str] | None:
    """Name and secret, where both were sent as they should be; a token as bearer counts too."""
    kind, _, value = headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() == b"bearer":
        return "oauth2", value.strip().decode("latin-1")
    if b"private-token" in headers:
        return "", headers[b"private-token"].decode("latin-1").strip()
    if kind.lower() != b"basic":
        return None
    try:
        name, _, secret = base64.b64decode(value.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return None if not name and not secret else (name.replace("\0", ""), secret)
