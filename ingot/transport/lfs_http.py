"""Git LFS over HTTP: large files beside the repositories, in batches, and the locks on them."""

import re
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote

from ingot.core.api.params import number_or_none
from ingot.core.api.request_fields import parse_query
from ingot.core.api.responses import ApiResponse
from ingot.core.db.database import Database
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Component, Header, Request, Send, Trace
from ingot.core.http.stream import stream_response
from ingot.projects.projects.tables import Project
from ingot.repositories.lfs.files import is_oid, lfs_files_of
from ingot.repositories.lfs.params import LfsBatchParams, LfsObjectParams, LockParams, UnlockParams, VerifyLocksParams
from ingot.repositories.lfs.queries import sizes_in_project
from ingot.repositories.lfs.views import download_views, upload_views
from ingot.settings import Settings
from ingot.transport.admission import CallerClaim, GitAuthorizer, GitRequestRefused
from ingot.transport.bodies import ClientGone
from ingot.transport.lfs_files import LfsTransfers
from ingot.transport.lfs_locks import LfsLockService
from ingot.transport.lfs_messages import error_body, error_response, json_response, read_params, refusal_for_error
from ingot.transport.lfs_tokens import lfs_token_authenticator
from ingot.transport.policy import Service

MAX_OBJECTS_PER_BATCH = 5_000
_LFS_PATH = re.compile(
    rb"/(?P<path>.+?)\.git/(?:info/lfs/(?P<call>objects|locks)(?P<rest>(?:/.*)?)|gitlab-lfs/objects/(?P<object>.*))"
)
# Answers may carry the caller's own credentials, for the requests that follow.
_SECURITY_HEADERS: list[Header] = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_CLIENT_CLOSED_STATUS = 499


class LfsRequest(NamedTuple):
    """One request, and who makes it."""

    request: Request
    trace: Trace
    claim: CallerClaim
    path: bytes


class LfsComponent:
    """Serves clients of Git LFS; whoever asks for anything else is sent on."""

    def __init__(
        self, settings: Settings, database: Database, pool: Executor, admission: GitAuthorizer, otherwise: Component
    ) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool
        self._admission = admission
        self._otherwise = otherwise
        self._transfers = LfsTransfers(database, pool, lfs_files_of(settings))
        self._locks = LfsLockService(database, pool)

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Answer one request."""
        called = _LFS_PATH.fullmatch(request.path)
        if called is None:
            await self._otherwise.serve(request, send, trace)
            return
        try:
            answer = await self._answer(request, trace, called)
        except ClientGone:
            trace.status = _CLIENT_CLOSED_STATUS
            return
        except Exception as error:
            refused = refusal_for_error(error)
            if refused is None:
                raise
            answer = error_response(request, trace, refused)
        headers = [*_SECURITY_HEADERS, *answer.headers]
        if answer.pieces is not None:
            await stream_response(request, send, trace, answer.status, headers, answer.pieces, self._pool)
        else:
            await send_response(send, trace, answer.status, headers, b"" if request.method == "HEAD" else answer.body)

    async def _answer(self, request: Request, trace: Trace, called: re.Match[bytes]) -> ApiResponse:
        visit = LfsRequest(
            request, trace, await self._admission.claim(request, lfs_token_authenticator), called["path"]
        )
        if called["object"] is not None:
            trace.route = "/:path.git/gitlab-lfs/objects"
            return await self._transfer(visit, called["object"])
        words = [unquote(word.decode("latin-1")) for word in called["rest"].strip(b"/").split(b"/") if word]
        trace.route = f"/:path.git/info/lfs/{called['call'].decode()}"
        if called["call"] == b"locks":
            return await self._lock(visit, words)
        if words not in (["batch"], ["verify"]):
            text = "Server supports batch API only, please update your Git LFS client to version 1.0.1 and up."
            raise GitRequestRefused(501, text)
        _require_method(request, "POST")
        project = self._admit(visit, "git-upload-pack")
        if words == ["verify"]:
            return self._verify(project, await read_params(request, LfsObjectParams))
        return self._batch(visit, project, await read_params(request, LfsBatchParams))

    def _admit(self, visit: LfsRequest, service: Service) -> Project:
        project = self._admission.authorize(visit.claim, visit.path, service, visit.trace)
        if not project.lfs_enabled:
            raise GitRequestRefused(404, "Git LFS is not enabled for this project.")
        return project

    async def _transfer(self, visit: LfsRequest, raw: bytes) -> ApiResponse:
        oid, _, rest = unquote(raw.decode("latin-1")).partition("/")
        if not is_oid(oid):
            raise GitRequestRefused(400, "An object is named by the 64 digits of its SHA-256.")
        if not rest:
            _require_method(visit.request, "GET", "HEAD")
            return self._transfers.download(visit.request, self._admit(visit, "git-upload-pack"), oid)
        _require_method(visit.request, "PUT")
        size = number_or_none(rest)
        if size is None:
            raise GitRequestRefused(400, "The size of an object is a number of bytes.")
        project = self._admit(visit, "git-receive-pack")
        most = self._settings.max_lfs_mb
        if most and size > most * 2**20:
            raise GitRequestRefused(413, f"The file is larger than the {most} MB that are allowed.")
        await self._transfers.upload(visit.request, visit.claim.authenticate, project, oid, size)
        return json_response({})

    def _batch(self, visit: LfsRequest, project: Project, params: LfsBatchParams) -> ApiResponse:
        if len(params.objects) > MAX_OBJECTS_PER_BATCH:
            raise GitRequestRefused(413, f"A batch has {MAX_OBJECTS_PER_BATCH} objects at most.")
        if params.transfers and "basic" not in params.transfers:
            raise GitRequestRefused(422, "Only the basic transfer is served.")
        if params.hash_algo not in (None, "sha256"):
            raise GitRequestRefused(409, "Objects are named by their SHA-256.")
        if params.operation == "upload":
            self._admit(visit, "git-receive-pack")
        oids = {each.oid for each in params.objects}
        had = self._database.read(partial(sizes_in_project, project_id=project.id, oids=oids))
        url = f"{visit.request.origin.base}/{project.full_path}.git"
        header = _forwarded_credentials(visit.request)
        if params.operation == "download":
            return json_response(download_views(params.objects, had, url, header))
        return json_response(upload_views(params.objects, had, url, header, self._settings.max_lfs_mb))

    def _verify(self, project: Project, params: LfsObjectParams) -> ApiResponse:
        had = self._database.read(partial(sizes_in_project, project_id=project.id, oids=[params.oid]))
        if params.oid not in had:
            raise GitRequestRefused(
                404, "Object does not exist on the server or you don't have permissions to access it"
            )
        if had[params.oid] != params.size:
            raise GitRequestRefused(422, "The object has another size.")
        return json_response({})

    async def _lock(self, visit: LfsRequest, words: list[str]) -> ApiResponse:
        request, prove = visit.request, visit.claim.authenticate
        if not words and request.method == "GET":
            project = self._admit(visit, "git-upload-pack")
            return json_response(self._locks.listed(project, parse_query(request.query)))
        _require_method(request, *(["POST"] if words else ["POST", "GET"]))
        project = self._admit(visit, "git-receive-pack")
        match words:
            case []:
                return await self._delete_lock(visit, project)
            case ["verify"]:
                return json_response(
                    self._locks.verify_locks(prove, project, await read_params(request, VerifyLocksParams))
                )
            case [number, "unlock"]:
                wanted = await read_params(request, UnlockParams)
                return json_response(await self._locks.unlock(prove, project, number, wanted))
        raise GitRequestRefused(404, "Not found.")

    async def _delete_lock(self, visit: LfsRequest, project: Project) -> ApiResponse:
        wanted = await read_params(visit.request, LockParams)
        status, content = await self._locks.lock(visit.claim.authenticate, project, wanted)
        if status == 409:
            content = {**error_body(visit.request, visit.trace, "already created lock"), **content}
        return json_response(content, status)


def _forwarded_credentials(request: Request) -> dict[str, str]:
    """What the requests that follow have to bring along: exactly what this one brought."""
    for name, key in (("Authorization", b"authorization"), ("Private-Token", b"private-token")):
        if key in request.headers:
            return {name: request.headers[key].decode("latin-1")}
    return {}


def _require_method(request: Request, *methods: str) -> None:
    if request.method not in methods:
        raise GitRequestRefused(405, "Method not allowed.", (b"allow", ", ".join(methods).encode()))
