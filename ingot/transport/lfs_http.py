"""Git LFS API: batches, transfers and locks of large files."""

import asyncio
import re
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote

from msgspec import UNSET

from ingot.core.access.actor import ANONYMOUS
from ingot.core.api.call_log import CallLog, CallOwner, WritingCall
from ingot.core.api.params import number_or_none
from ingot.core.api.rate_limits import LimitedRequest, RateLimits
from ingot.core.api.request_fields import parse_query
from ingot.core.api.responses import ApiResponse
from ingot.core.db.database import Database
from ingot.core.http.body_budget import BodyBudget, BodyCharge
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.core.http.stream import stream_response
from ingot.core.http.transfer_slots import TransferSlots
from ingot.core.settings import Settings
from ingot.projects.projects.tables import Project
from ingot.repositories.lfs.files import is_oid, lfs_files_of
from ingot.repositories.lfs.params import LfsBatchParams, LfsObjectParams, LockParams, UnlockParams, VerifyLocksParams
from ingot.repositories.lfs.queries import sizes_in_project
from ingot.repositories.lfs.views import LfsAction, download_views, upload_views
from ingot.transport.authorization import GitIdentity, HttpAuthorization
from ingot.transport.lfs_files import LfsTransfers
from ingot.transport.lfs_locks import LfsLocks
from ingot.transport.lfs_messages import error_fields, error_response, json_response, read_params, refusal_of
from ingot.transport.lfs_tokens import parse_lfs_token
from ingot.transport.policy import Service
from ingot.transport.refusals import GitRequestRefused
from ingot.transport.request_bodies import ClientDisconnected

MAX_BATCH_OBJECTS = 5_000
_LFS_PATH = re.compile(
    rb"/(?P<path>.+?)\.git/(?:info/lfs/(?P<call>objects|locks)(?P<rest>(?:/.*)?)|gitlab-lfs/objects/(?P<object>.*))"
)
# A response may contain the credentials of the caller, for the requests that follow.
_SECURITY_HEADERS: list[Header] = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_CLIENT_CLOSED_REQUEST = 499


class LfsCall(NamedTuple):
    """Request with the identity of its caller."""

    request: Request
    trace: Trace
    identity: GitIdentity
    path: bytes
    charge: BodyCharge


class LfsHttp:
    """HTTP component for the Git LFS API: batches, transfers and locks."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        pool: Executor,
        authorization: HttpAuthorization,
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
        self._authorization = authorization
        self._files = lfs_files_of(settings)
        self._transfers = LfsTransfers(database, pool, self._files)
        self._locks = LfsLocks(database, pool)
        self._bodies = bodies
        self._slots = transfers

    def handles(self, request: Request) -> bool:
        """Return whether the path belongs to the Git LFS API of a repository."""
        return _LFS_PATH.fullmatch(request.path) is not None

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to one request."""
        try:
            identity = await self._authorization.identify(request, parse_lfs_token)
            await self._count_request(request, identity)
            with self._bodies.charge(request.origin.ip) as charge:
                answer = await self._answer(request, trace, charge, identity)
            if answer.pieces is not None:
                headers = [*_SECURITY_HEADERS, *answer.headers]
                async with self._slots.hold(identity.transfers):
                    await stream_response(request, send, trace, answer.status, headers, answer.pieces, self._pool)
                return
        except ClientDisconnected:
            trace.status = _CLIENT_CLOSED_REQUEST
            return
        except Exception as error:
            refused = refusal_of(error)
            if refused is None or trace.answered:
                raise
            answer = error_response(request, trace, refused)
        headers = [*_SECURITY_HEADERS, *answer.headers]
        await send_response(send, trace, answer.status, headers, b"" if request.method == "HEAD" else answer.body)

    async def _count_request(self, request: Request, identity: GitIdentity) -> None:
        """Count the request for the rate limits; raise Throttled beyond a limit."""
        limits = await self._limits.applying("lfs", request.method, "", self._pool)
        if limits:
            limited = LimitedRequest(ANONYMOUS, identity.transfers, request.path.decode("latin-1"), {})
            await asyncio.get_running_loop().run_in_executor(self._pool, self._limits.take, limits, limited)

    async def _answer(self, request: Request, trace: Trace, charge: BodyCharge, identity: GitIdentity) -> ApiResponse:
        match = _LFS_PATH.fullmatch(request.path)
        if match is None:
            raise GitRequestRefused(404, "Not found.")
        charge.anonymous = not identity.known
        call = LfsCall(request, trace, identity, match["path"], charge)
        if match["object"] is not None:
            trace.route = "/:path.git/gitlab-lfs/objects"
            return await self._transfer(call, match["object"])
        words = [unquote(word.decode("latin-1")) for word in match["rest"].strip(b"/").split(b"/") if word]
        trace.route = f"/:path.git/info/lfs/{match['call'].decode()}"
        if match["call"] == b"locks":
            return await self._lock(call, words)
        if words not in (["batch"], ["verify"]):
            text = "Server supports batch API only, please update your Git LFS client to version 1.0.1 and up."
            raise GitRequestRefused(501, text)
        _require_method(request, "POST")
        project = await self._authorize(call, "git-upload-pack")
        if words == ["verify"]:
            return await self._verify(call, project, await read_params(request, LfsObjectParams, call.charge))
        return await self._batch(call, project, await read_params(request, LfsBatchParams, call.charge))

    async def _authorize(self, call: LfsCall, service: Service) -> Project:
        project = await self._authorization.authorize_project(call.identity, call.path, service, call.trace)
        if not project.lfs_enabled:
            raise GitRequestRefused(404, "Git LFS is not enabled for this project.")
        return project

    async def _transfer(self, call: LfsCall, raw: bytes) -> ApiResponse:
        oid, _, rest = unquote(raw.decode("latin-1")).partition("/")
        if not is_oid(oid):
            raise GitRequestRefused(400, "An object is named by the 64 hexadecimal digits of its SHA-256.")
        if not rest:
            _require_method(call.request, "GET", "HEAD")
            return await self._transfers.download(call.request, await self._authorize(call, "git-upload-pack"), oid)
        _require_method(call.request, "PUT")
        size = number_or_none(rest)
        if size is None:
            raise GitRequestRefused(400, "The size of an object is a number of bytes.")
        project = await self._authorize(call, "git-receive-pack")
        limit = self._settings.max_lfs_mb
        if limit and size > limit * 2**20:
            raise GitRequestRefused(413, f"The file is larger than the {limit} MB that are allowed.")
        async with self._slots.hold(call.identity.transfers):
            await self._transfers.upload(call.request, call.identity.authenticate, project, oid, size)
        self._log(call, project)
        return json_response({})

    async def _batch(self, call: LfsCall, project: Project, params: LfsBatchParams) -> ApiResponse:
        if len(params.objects) > MAX_BATCH_OBJECTS:
            raise GitRequestRefused(413, f"A batch has {MAX_BATCH_OBJECTS} objects at most.")
        if params.transfers and "basic" not in params.transfers:
            raise GitRequestRefused(422, "Only the basic transfer adapter is supported.")
        if params.hash_algo not in (None, "sha256"):
            raise GitRequestRefused(409, "Objects are named by their SHA-256.")
        if params.operation == "upload":
            await self._authorize(call, "git-receive-pack")
        oids = {each.oid for each in params.objects}
        sizes = await self._database.read_async(partial(sizes_in_project, project_id=project.id, oids=oids), self._pool)
        url = f"{call.request.origin.base}/{project.full_path}.git"
        header = _forwarded_credentials(call.request)
        if params.operation == "download":
            return json_response(download_views(params.objects, sizes, url, header))
        views = upload_views(params.objects, sizes, url, header, self._settings.max_lfs_mb)
        for view in views.objects:
            signed = self._files.upload_url(project.id, view.oid) if view.actions is not UNSET else None
            if signed is not None and view.actions is not UNSET and view.size:
                view.actions["upload"] = LfsAction(signed, {})
        return json_response(views)

    async def _verify(self, call: LfsCall, project: Project, params: LfsObjectParams) -> ApiResponse:
        """Check that a file has been uploaded; add it to the project if the client has uploaded it to the bucket."""
        sizes = await self._database.read_async(
            partial(sizes_in_project, project_id=project.id, oids=[params.oid]), self._pool
        )
        if params.oid not in sizes and self._files.has_bucket and is_oid(params.oid):
            target = await self._authorize(call, "git-receive-pack")
            if await self._transfers.complete(call.identity.authenticate, target, params.oid, params.size):
                self._log(call, project)
                return json_response({})
        if params.oid not in sizes:
            raise GitRequestRefused(
                404, "Object does not exist on the server or you don't have permissions to access it"
            )
        if sizes[params.oid] != params.size:
            raise GitRequestRefused(422, "The object has another size.")
        return json_response({})

    async def _lock(self, call: LfsCall, words: list[str]) -> ApiResponse:
        request, authenticate = call.request, call.identity.authenticate
        if not words and request.method == "GET":
            project = await self._authorize(call, "git-upload-pack")
            return json_response(await self._locks.list_locks(project, parse_query(request.query)))
        _require_method(request, *(["POST"] if words else ["POST", "GET"]))
        project = await self._authorize(call, "git-receive-pack")
        match words:
            case []:
                return await self._create_lock(call, project)
            case ["verify"]:
                verified = await read_params(request, VerifyLocksParams, call.charge)
                return json_response(await self._locks.verify(authenticate, project, verified))
            case [lock_id, "unlock"]:
                params = await read_params(request, UnlockParams, call.charge)
                unlocked = await self._locks.unlock(authenticate, project, lock_id, params)
                self._log(call, project)
                return json_response(unlocked)
        raise GitRequestRefused(404, "Not found.")

    async def _create_lock(self, call: LfsCall, project: Project) -> ApiResponse:
        params = await read_params(call.request, LockParams, call.charge)
        status, content = await self._locks.lock(call.identity.authenticate, project, params)
        if status == 409:
            content = {**error_fields(call.request, call.trace, "already created lock"), **content}
        else:
            self._log(call, project, status)
        return json_response(content, status)

    def _log(self, call: LfsCall, project: Project, status: int = 200) -> None:
        """Report a call that has changed something."""
        request, owner = call.request, CallOwner("", project.full_path)
        self._call_log(
            WritingCall(call.identity.actor, request.method, call.trace.route, owner, status, request.origin.ip)
        )


def _forwarded_credentials(request: Request) -> dict[str, str]:
    """Return the header for the requests that follow: the credentials of this request."""
    for name, key in (("Authorization", b"authorization"), ("Private-Token", b"private-token")):
        if key in request.headers:
            return {name: request.headers[key].decode("latin-1")}
    return {}


def _require_method(request: Request, *methods: str) -> None:
    if request.method not in methods:
        raise GitRequestRefused(405, "Method not allowed.", (b"allow", ", ".join(methods).encode()))
