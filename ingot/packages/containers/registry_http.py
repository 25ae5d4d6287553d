"""Registry protocol of container images (OCI distribution specification), below ``/v2/``."""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple, TypeVar
from urllib.parse import parse_qs, quote, unquote

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.sessions.password_check import PasswordAttempt, check_password
from ingot.core.api.call_log import CallLog, CallOwner, WritingCall
from ingot.core.api.params import number_or_none
from ingot.core.api.rate_limits import LimitedRequest, RateLimits
from ingot.core.api.request_credentials import basic_credentials
from ingot.core.api.request_fields import BadRequest, parse_query
from ingot.core.api.responses import ApiResponse, encode, json_response
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.disk_errors import is_storage_full
from ingot.core.errors import Denied, Failure, Unauthenticated
from ingot.core.http.body_budget import BodyBudget
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.core.http.stream import stream_response
from ingot.core.http.transfer_slots import TransferSlots, caller_of
from ingot.core.log import log_failure
from ingot.core.settings import Settings
from ingot.packages.containers.manifests import IMAGE_INDEX, annotations_of
from ingot.packages.containers.queries import ImagePath, catalog, find_image_path, referrers, tag_names
from ingot.packages.containers.registry_access import (
    Action,
    authorize,
    authorized_caller,
    challenge,
    request_credential,
)
from ingot.packages.containers.registry_blobs import RegistryBlobs
from ingot.packages.containers.registry_errors import API_VERSION, RegistryError, refusal_of, registry_error_response
from ingot.packages.containers.registry_manifests import RegistryManifests
from ingot.packages.containers.registry_tokens import (
    RegistryCredential,
    actor_of,
    registry_token,
    requested_access,
)
from ingot.packages.containers.tables import ContainerRepository
from ingot.packages.files.store import package_store_of

T = TypeVar("T")
MAX_TAGS = 1000
MAX_CATALOG = 10_000
_TOKEN_PATH = b"/jwt/auth"
_CREATED = 201
_NOSNIFF: Header = (b"x-content-type-options", b"nosniff")
_PATH = re.compile(
    r"/v2/(?P<name>[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*)/"
    r"(?P<kind>blobs/uploads|blobs|manifests|tags|referrers)(?:/(?P<item>[^/]*))?/?"
)
_ACCESS_TOKEN = re.compile(r"ingot[a-z]-[\w.-]{20,}")


class RegistryRequest(NamedTuple):
    """A request for a part of a repository."""

    request: Request
    name: str
    item: str
    query: dict[str, str]


class RegistryHttp:
    """HTTP component of the container registry."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        pool: Executor,
        bodies: BodyBudget,
        transfers: TransferSlots,
        limits: RateLimits,
        call_log: CallLog,
    ) -> None:
        self._limits = limits
        self._call_log = call_log
        self._settings = settings
        self._database = database
        self._pool = pool
        self._password_checks = asyncio.Semaphore(1)  # Others wait without a thread.
        store = package_store_of(settings)
        self._blobs = RegistryBlobs(database, pool, store)
        self._transfers = transfers
        self._manifests = RegistryManifests(database, pool, bodies)

    def handles(self, request: Request) -> bool:
        """Return whether the path belongs to the registry."""
        return request.path in (b"/v2", _TOKEN_PATH) or request.path.startswith(b"/v2/")

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to one request."""
        try:
            answer = await self._answer(request, trace)
            if answer.pieces is not None:
                await self._send_blob(request, send, trace, answer)
                return
        except BadRequest as error:
            refused = RegistryError(error.status, "SIZE_INVALID", error.message, (b"connection", b"close"))
            answer = registry_error_response(refused)
        except Exception as error:
            if is_storage_full(error):
                answer = registry_error_response(RegistryError(507, "UNAVAILABLE", "the disk of the server is full"))
            else:
                refusal = refusal_of(error)
                if refusal is None or trace.answered:
                    raise
                answer = registry_error_response(refusal)
        await send_response(send, trace, answer.status, [*answer.headers, _NOSNIFF], answer.body)

    async def _send_blob(self, request: Request, send: Send, trace: Trace, answer: ApiResponse) -> None:
        assert answer.pieces is not None  # noqa: S101 - For the type checker: it is a blob.
        actor = await self._read(partial(authorized_caller, request=request, action="pull"))
        async with self._transfers.hold(caller_of(actor, request.origin.ip)):
            await stream_response(
                request, send, trace, answer.status, [*answer.headers, _NOSNIFF], answer.pieces, self._pool
            )

    async def _answer(self, request: Request, trace: Trace) -> ApiResponse:
        path = unquote(request.path.decode("latin-1"))
        if request.path == _TOKEN_PATH:
            trace.route = "/jwt/auth"
            _require_method(request, "GET")
            return await self._issue_token(request)
        await self._admit_address(request, partial(request_credential, request=request))
        if path in ("/v2", "/v2/", "/v2/_catalog"):
            trace.route = path
            _require_method(request, "GET", "HEAD")
            return await self._base(request, lists=path.endswith("_catalog"))
        match = _PATH.fullmatch(path)
        if match is None:
            raise RegistryError(404, "NAME_INVALID", "invalid repository name or path")
        trace.route = f"/v2/:name/{match['kind']}"
        query = {name: str(value) for name, value in parse_query(request.query).items()}
        call = RegistryRequest(request, match["name"], match["item"] or "", query)
        try:
            answer = await self._dispatch(call, match["kind"])
        except Unauthenticated:
            raise challenge(request, match["name"], _action(request), query.get("from", "")) from None
        if answer.status == _CREATED or request.method == "DELETE":
            await self._log(call, trace.route, answer.status)
        return answer

    async def _log(self, call: RegistryRequest, route: str, status: int) -> None:
        """Report a call that has added or deleted content."""
        try:
            self._call_log(await self._read(partial(_writing_call, call=call, route=route, status=status)))
        except Failure as error:  # The token or the project is gone since.
            log_failure("call of the registry not recorded", error)

    async def _dispatch(self, call: RegistryRequest, kind: str) -> ApiResponse:
        method = call.request.method
        if kind == "blobs/uploads":
            _require_method(call.request, *(("GET", "PATCH", "PUT", "DELETE") if call.item else ("POST",)))
            if not call.item:
                return await self._blobs.start(call.request, call.name, call.query)
            return await self._blobs.transfer(call.request, call.name, call.item, call.query)
        if kind == "blobs":
            _require_method(call.request, "GET", "HEAD", "DELETE")
            remove, download = self._blobs.delete, self._blobs.download
            return await (remove if method == "DELETE" else download)(call.request, call.name, call.item)
        if kind == "manifests":
            _require_method(call.request, "GET", "HEAD", "PUT", "DELETE")
            action = {"PUT": self._manifests.put, "DELETE": self._manifests.delete}.get(method, self._manifests.get)
            return await action(call.request, call.name, call.item)
        _require_method(call.request, "GET", "HEAD")
        if kind == "tags" and call.item == "list":
            return await self._read(partial(_list_tags, call=call))
        if kind == "referrers":
            return await self._read(partial(_list_referrers, call=call))
        raise RegistryError(404, "NAME_INVALID", "invalid repository name or path")

    async def _base(self, request: Request, *, lists: bool) -> ApiResponse:
        """Respond to a check of the credentials, or with the list of all repositories for administrators."""

        def work(db: Connection) -> ApiResponse:
            actor = authorized_caller(db, request, "pull")
            if not actor.known and actor.deploy_token is None:
                raise Unauthenticated
            if lists and not actor.admin:
                raise Denied("only administrators list all repositories")
            content = {"repositories": catalog(db, MAX_CATALOG)} if lists else {}
            return json_response(200, content, [API_VERSION])

        try:
            return await self._read(work)
        except Unauthenticated:
            raise challenge(request) from None

    async def _issue_token(self, request: Request) -> ApiResponse:
        basic = basic_credentials(request.headers)
        credential = RegistryCredential() if basic is None else RegistryCredential(*basic)
        try:
            if basic is not None:
                credential = await self._accepted(request, credential)
        except Unauthenticated as error:
            reason = f". {error}" if str(error) else ""
            raise RegistryError(401, "UNAUTHORIZED", f"HTTP Basic: Access denied{reason}") from None
        await self._admit_address(request, lambda _: credential)

        def issue(db: Connection) -> ApiResponse:
            seconds = current_settings(db).container_registry_token_expire_delay * 60
            credential.expires_at = add_duration(db.now, seconds=seconds)
            credential.granted = requested_access(parse_qs(request.query.decode("latin-1")).get("scope", []))
            token = registry_token(db, credential)
            content = {"token": token, "access_token": token, "expires_in": seconds, "issued_at": db.now}
            return json_response(200, content, [(b"cache-control", b"no-store")])

        return await self._read(issue)

    async def _admit_address(self, request: Request, find: Callable[[Connection], RegistryCredential]) -> None:
        """Record the address of a user, where the instance limits their number; raise Throttled beyond it."""
        limits = await self._limits.applying("git", "", "", self._pool)
        if not limits:
            return
        try:
            actor = await self._read(lambda db: actor_of(db, find(db)))
        except Failure:  # The request is refused by what it asks for.
            return
        path = request.path.decode("latin-1")
        limited = LimitedRequest(actor, caller_of(actor, request.origin.ip), path, {})
        await asyncio.get_running_loop().run_in_executor(self._pool, self._limits.take, limits, limited)

    async def _accepted(self, request: Request, credential: RegistryCredential) -> RegistryCredential:
        """Return a credential that is a token, or that of the user with a password; raise Unauthenticated."""
        try:
            await self._read(partial(actor_of, credential=credential))
            return credential
        except Unauthenticated:
            # A revoked token that a program still uses must not count as failed sign-ins of its user.
            if _ACCESS_TOKEN.fullmatch(credential.secret or ""):
                raise
        origin = request.origin
        username, secret = credential.username or "", credential.secret or ""
        attempt = PasswordAttempt("git", username, secret, origin.ip, origin.user_agent)
        check = partial(check_password, self._database, self._settings, attempt)
        async with self._password_checks:
            user = await asyncio.get_running_loop().run_in_executor(self._pool, check)
        return RegistryCredential(user_id=user.id)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._database.read, work)


def _writing_call(db: Connection, call: RegistryRequest, route: str, status: int) -> WritingCall:
    actor = authorized_caller(db, call.request, "push")
    owner = CallOwner("", find_image_path(db, actor, call.name).project.full_path)
    return WritingCall(actor, call.request.method, route, owner, status, call.request.origin.ip)


def _action(request: Request) -> Action:
    return "pull" if request.method in ("GET", "HEAD") else "delete" if request.method == "DELETE" else "push"


def _require_method(request: Request, *methods: str) -> None:
    if request.method not in methods:
        allowed = (b"allow", ", ".join(methods).encode())
        raise RegistryError(405, "UNSUPPORTED", "the operation is unsupported", allowed)


def _published(db: Connection, call: RegistryRequest) -> tuple[ImagePath, ContainerRepository | None]:
    image = authorize(db, call.request, call.name, "pull")
    return image, image.repository


def _list_tags(db: Connection, call: RegistryRequest) -> ApiResponse:
    image, repository = _published(db, call)
    if repository is None or repository.last_published_at is None:
        raise RegistryError(404, "NAME_UNKNOWN", "repository name not known to registry")
    requested = number_or_none(call.query.get("n", str(MAX_TAGS)))
    if requested is None:
        raise RegistryError(400, "PAGINATION_NUMBER_INVALID", "the number of tags is invalid")
    most = min(requested, MAX_TAGS)
    names = tag_names(db, repository.id, call.query.get("last", ""), most + 1) if most else []
    headers = [API_VERSION]
    if len(names) > most:
        names = names[:most]
        url = f"/v2/{call.name}/tags/list?n={most}&last={quote(names[-1])}"
        headers.append((b"link", f'<{url}>; rel="next"'.encode()))
    return json_response(200, {"name": image.path, "tags": names}, headers)


def _list_referrers(db: Connection, call: RegistryRequest) -> ApiResponse:
    _, repository = _published(db, call)
    after = number_or_none(call.query.get("last", "0")) or 0
    found, last = ([], None) if repository is None else referrers(db, repository.id, call.item, after)
    wanted = call.query.get("artifactType")
    headers = [(b"content-type", IMAGE_INDEX.encode()), API_VERSION]
    if wanted:
        headers.append((b"oci-filters-applied", b"artifactType"))
    if last is not None:
        url = f"/v2/{call.name}/referrers/{call.item}?last={last}&artifactType={quote(wanted or '')}"
        headers.append((b"link", f'<{url}>; rel="next"'.encode()))
    descriptors = []
    for manifest in found:
        if wanted in (None, "", manifest.artifact_type):
            descriptor = {"mediaType": manifest.media_type, "digest": manifest.digest, "size": len(manifest.content)}
            extra = {"artifactType": manifest.artifact_type, "annotations": annotations_of(manifest.content)}
            descriptors.append(descriptor | {name: value for name, value in extra.items() if value})
    index = {"schemaVersion": 2, "mediaType": IMAGE_INDEX, "manifests": descriptors}
    return ApiResponse(200, encode(index), headers)
