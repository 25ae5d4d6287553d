"""Authentication and authorization of git and Git LFS requests over HTTP."""

import asyncio
import base64
import binascii
import re
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from ingot.accounts.instance.access_settings import TermsNotAccepted
from ingot.accounts.instance.settings import GitProtocol
from ingot.accounts.sessions.password_check import PasswordAttempt, check_password
from ingot.ci.job_records.tables import TOKEN_USERNAME
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.api.rate_limits import LimitedRequest, RateLimits
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import NotFound, Throttled, Unauthenticated, Unavailable
from ingot.core.http.client_networks import client_network
from ingot.core.http.request import Request, Trace
from ingot.core.http.transfer_slots import TransferCaller
from ingot.core.settings import Settings
from ingot.projects.projects.tables import Project
from ingot.transport.activity import UserActivity
from ingot.transport.callers import (
    Authenticate,
    GitCaller,
    anonymous,
    caller_at,
    caller_by_job_token,
    caller_by_password,
    caller_by_token,
)
from ingot.transport.policy import Service, protocol_refusal, service_refusal
from ingot.transport.refusals import PROJECT_NOT_FOUND, GitRequestRefused, unauthorized, unavailable
from ingot.transport.targets import GitTarget, find_target, is_wiki_path, target_refusal

T = TypeVar("T")
UNKNOWN_PATH = "/"
"""A path that no project has."""
_TOKEN = re.compile(r"ingot[a-z]-[\w.-]{20,}")

Lookup = Callable[..., tuple[T, str | None, str]]
"""Returns the object at a path, a refusal or None, and the caller's name for the log."""
TokenParser = Callable[[str], Authenticate | None]
"""Recognizes a token that only one component accepts; returns None for any other secret."""


class GitIdentity(NamedTuple):
    """Caller of a request; anonymous unless ``known``."""

    known: bool
    authenticate: Authenticate
    protocol: GitProtocol = "http"
    """The protocol whose rules apply; a token that was issued over SSH is used over HTTP."""
    transfers: TransferCaller = TransferCaller("", "")
    """What the transfers of the caller count for."""
    actor: Actor = ANONYMOUS


class HttpAuthorization:
    """Authenticates requests and checks permissions; raises ``GitRequestRefused`` with the response."""

    def __init__(
        self, settings: Settings, database: Database, pool: Executor, activity: UserActivity, limits: RateLimits
    ) -> None:
        self._limits = limits
        self._settings = settings
        self._database = database
        self._pool = pool
        self._password_checks = asyncio.Semaphore(1)  # Others wait without a thread.
        self._activity = activity

    async def identify(self, request: Request, token_parser: TokenParser | None = None) -> GitIdentity:
        """Authenticate the caller by a token if the secret is one, else by the password."""
        credentials = _credentials(request.headers)
        if credentials is None:
            nobody = partial(caller_at, authenticate=anonymous, address=request.origin.ip)
            transfers = TransferCaller("", client_network(request.origin.ip))
            await self._count(ANONYMOUS, transfers, request)
            return GitIdentity(False, nobody, transfers=transfers)
        username, secret = credentials
        parsed = token_parser(secret) if token_parser is not None else None
        if parsed is not None:
            try:
                return (await self._identity(request, parsed))._replace(protocol="ssh")
            except Unauthenticated:
                raise unauthorized() from None
        if username == TOKEN_USERNAME:
            try:
                return await self._identity(request, partial(caller_by_job_token, token=secret))
            except Unauthenticated:  # Clients such as semantic-release send access tokens under this name.
                pass
        for name, token in ((username, secret), ("", username)):
            try:
                return await self._identity(request, partial(caller_by_token, username=name, secret=token))
            except Unauthenticated:
                continue
        if username == TOKEN_USERNAME or _TOKEN.fullmatch(secret):
            # A revoked token that a program still uses must not count as failed sign-ins of its user.
            raise unauthorized()
        by_password = await self._by_password(request, username, secret)
        try:
            return await self._identity(request, by_password)
        except Unauthenticated:  # Blocked since the password was checked.
            raise unauthorized() from None

    async def _identity(self, request: Request, authenticate: Authenticate) -> GitIdentity:
        authenticate = partial(caller_at, authenticate=authenticate, address=request.origin.ip)
        caller = await self._read(authenticate)
        self._activity.record(caller.actor)
        transfers = caller.in_transfers(request.origin.ip)
        await self._count(caller.actor, transfers, request)
        return GitIdentity(True, authenticate, transfers=transfers, actor=caller.actor)

    async def _count(self, actor: Actor, transfers: TransferCaller, request: Request) -> None:
        """Count a request for the limits of addresses of users and of visitors; raise GitRequestRefused beyond one."""
        limits = await self._limits.applying("git", "", "", self._pool)
        if not limits:
            return
        limited = LimitedRequest(actor, transfers, request.path.decode("latin-1"), {})
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool, self._limits.take, limits, limited)
        except Throttled as error:
            raise GitRequestRefused(error.status, error.text, (b"retry-after", b"%d" % error.retry_after)) from None
        except Unavailable:
            raise unavailable() from None

    async def _by_password(self, request: Request, username: str, secret: str) -> Authenticate:
        origin = request.origin
        attempt = PasswordAttempt("git", username, secret, origin.ip, origin.user_agent)
        check = partial(check_password, self._database, self._settings, attempt)
        try:
            async with self._password_checks:
                user = await asyncio.get_running_loop().run_in_executor(self._pool, check)
        except Unauthenticated as error:
            raise unauthorized(error.reason) from None
        except Throttled as error:
            raise GitRequestRefused(
                429, "Too many failed sign-ins. Retry later.", (b"retry-after", b"%d" % error.retry_after)
            ) from None
        except Unavailable:
            raise unavailable() from None
        return partial(caller_by_password, user_id=user.id)

    async def authorize_project(
        self, identity: GitIdentity, raw_path: bytes, service: Service, trace: Trace
    ) -> Project:
        """Return the project at a path if the caller may use the service on it."""
        lookup = partial(_find_project, identity=identity, service=service)
        return await self._authorize(identity, raw_path, trace, lookup)

    async def authorize_target(
        self, identity: GitIdentity, raw_path: bytes, service: Service, trace: Trace
    ) -> GitTarget:
        """Return the project or wiki at a path if the caller may use the service on it."""
        lookup = partial(_find_target, identity=identity, service=service)
        return await self._authorize(identity, raw_path, trace, lookup)

    async def _authorize(self, identity: GitIdentity, raw_path: bytes, trace: Trace, lookup: Lookup[T]) -> T:
        try:
            path = unquote(raw_path.decode("ascii"), errors="strict")
        except UnicodeDecodeError:
            path = ""
        if "\0" in path or not ("/" in path or is_wiki_path(path)):
            path = UNKNOWN_PATH  # A number would be taken for the id of a project, and PostgreSQL rejects NUL.
        try:
            target, denied, trace.user = await self._read(partial(lookup, path=path))
        except NotFound:
            # An anonymous caller is not told whether the project is hidden or does not exist.
            raise (GitRequestRefused(404, PROJECT_NOT_FOUND) if identity.known else unauthorized()) from None
        except Unauthenticated:
            raise unauthorized() from None
        if denied is not None:
            raise GitRequestRefused(403, denied) if identity.known else unauthorized()
        return target

    async def _read(self, work: Callable[[Connection], T]) -> T:
        try:
            return await self._database.read_async(work, self._pool)
        except Unavailable:
            raise unavailable() from None
        except TermsNotAccepted as error:
            raise GitRequestRefused(403, error.reason) from None


def _find_project(
    db: Connection, identity: GitIdentity, path: str, service: Service
) -> tuple[Project, str | None, str]:
    _require_protocol(db, identity)
    caller = identity.authenticate(db)
    access, project = caller.find(db, path)
    denied = _group_refusal(db, identity, caller, project.namespace_id)
    return project, denied or service_refusal(caller, access, project, service), caller.name


def _find_target(
    db: Connection, identity: GitIdentity, path: str, service: Service
) -> tuple[GitTarget, str | None, str]:
    _require_protocol(db, identity)
    caller = identity.authenticate(db)
    access, target = find_target(db, caller, path)
    denied = _group_refusal(db, identity, caller, target.namespace_id)
    return target, denied or target_refusal(caller, access, target, service), caller.name


def _group_refusal(db: Connection, identity: GitIdentity, caller: GitCaller, namespace_id: int) -> str | None:
    """Return a message if the group disables the protocol; jobs may clone nevertheless, as they know no other."""
    return None if caller.actor.job is not None else protocol_refusal(db, identity.protocol, namespace_id)


def _require_protocol(db: Connection, identity: GitIdentity) -> None:
    """Refuse a disabled protocol before credentials are asked for, as none would help."""
    disabled = protocol_refusal(db, identity.protocol)
    if disabled is not None:
        raise GitRequestRefused(403, disabled)


def _credentials(headers: dict[bytes, bytes]) -> tuple[str, str] | None:
    """Return the username and secret of Basic authentication, or a bearer or private token; None if malformed."""
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
