"""Git LFS over HTTP: large files beside the repositories, in batches, and the locks on them."""

import re
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote

from ingot.api.answers import Answer
from ingot.api.fields import parse_query
from ingot.api.params import number_or_none
from ingot.db.database import Database
from ingot.http.front import respond
from ingot.http.request import Door, Header, Request, Send, Trace
from ingot.http.streaming import stream
from ingot.lfs.files import is_oid, lfs_files_of
from ingot.lfs.params import BatchParams, LockParams, ObjectParams, UnlockParams, VerifyLocksParams
from ingot.lfs.queries import sizes_in_project
from ingot.lfs.views import download_views, upload_views
from ingot.projects.tables import Project
from ingot.settings import Settings
from ingot.transport.admission import Admission, Claim, Refused
from ingot.transport.bodies import ClientGone
from ingot.transport.lfs_files import Transfers
from ingot.transport.lfs_locks import Locks
from ingot.transport.lfs_messages import explained, json_answer, read_params, refusal_answer, refused_for
from ingot.transport.lfs_tokens import own_token
from ingot.transport.policy import Service

MOST_OBJECTS = 5_000
_CALL = re.compile(
    rb"/(?P<path>.+?)\.git/(?:info/lfs/(?P<call>objects|locks)(?P<rest>(?:/.*)?)|gitlab-lfs/objects/(?P<object>.*))"
)
# Answers may carry the caller's own credentials, for the requests that follow.
_SAFE: list[Header] = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_GONE = 499


class Visit(NamedTuple):
    """One request, and who makes it."""

    request: Request
    trace: Trace
    claim: Claim
    path: bytes


class LfsDoor:
    """Serves clients of Git LFS; whoever asks for anything else is sent on."""

    def __init__(
        self, settings: Settings, database: Database, pool: Executor, admission: Admission, otherwise: Door
    ) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool
        self._admission = admission
        self._otherwise = otherwise
        self._transfers = Transfers(database, pool, lfs_files_of(settings))
        self._locks = Locks(database, pool)

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Answer one request."""
        called = _CALL.fullmatch(request.path)
        if called is None:
            await self._otherwise.serve(request, send, trace)
            return
        try:
            answer = await self._answer(request, trace, called)
        except ClientGone:
            trace.status = _GONE
            return
        except Exception as error:
            refused = refused_for(error)
            if refused is None:
                raise
            answer = refusal_answer(request, trace, refused)
        headers = [*_SAFE, *answer.headers]
        if answer.pieces is not None:
            await stream(request, send, trace, answer.status, headers, answer.pieces, self._pool)
        else:
            await respond(send, trace, answer.status, headers, b"" if request.method == "HEAD" else answer.body)

    async def _answer(self, request: Request, trace: Trace, called: re.Match[bytes]) -> Answer:
        visit = Visit(request, trace, await self._admission.claim(request, own_token), called["path"])
        if called["object"] is not None:
            trace.route = "/:path.git/gitlab-lfs/objects"
            return await self._transfer(visit, called["object"])
        words = [unquote(word.decode("latin-1")) for word in called["rest"].strip(b"/").split(b"/") if word]
        trace.route = f"/:path.git/info/lfs/{called['call'].decode()}"
        if called["call"] == b"locks":
            return await self._lock(visit, words)
        if words not in (["batch"], ["verify"]):
            text = "Server supports batch API only, please update your Git LFS client to version 1.0.1 and up."
            raise Refused(501, text)
        _require_method(request, "POST")
        project = self._admit(visit, "git-upload-pack")
        if words == ["verify"]:
            return self._verify(project, await read_params(request, ObjectParams))
        return self._batch(visit, project, await read_params(request, BatchParams))

    def _admit(self, visit: Visit, service: Service) -> Project:
        project = self._admission.admit(visit.claim, visit.path, service, visit.trace)
        if not project.lfs_enabled:
            raise Refused(404, "Git LFS is not enabled for this project.")
        return project

    async def _transfer(self, visit: Visit, raw: bytes) -> Answer:
        oid, _, rest = unquote(raw.decode("latin-1")).partition("/")
        if not is_oid(oid):
            raise Refused(400, "An object is named by the 64 digits of its SHA-256.")
        if not rest:
            _require_method(visit.request, "GET", "HEAD")
            return self._transfers.download(visit.request, self._admit(visit, "git-upload-pack"), oid)
        _require_method(visit.request, "PUT")
        size = number_or_none(rest)
        if size is None:
            raise Refused(400, "The size of an object is a number of bytes.")
        project = self._admit(visit, "git-receive-pack")
        most = self._settings.max_lfs_mb
        if most and size > most * 2**20:
            raise Refused(413, f"The file is larger than the {most} MB that are allowed.")
        await self._transfers.upload(visit.request, visit.claim.prove, project, oid, size)
        return json_answer({})

    def _batch(self, visit: Visit, project: Project, wanted: BatchParams) -> Answer:
        if len(wanted.objects) > MOST_OBJECTS:
            raise Refused(413, f"A batch has {MOST_OBJECTS} objects at most.")
        if wanted.transfers and "basic" not in wanted.transfers:
            raise Refused(422, "Only the basic transfer is served.")
        if wanted.hash_algo not in (None, "sha256"):
            raise Refused(409, "Objects are named by their SHA-256.")
        if wanted.operation == "upload":
            self._admit(visit, "git-receive-pack")
        oids = {each.oid for each in wanted.objects}
        had = self._database.read(partial(sizes_in_project, project_id=project.id, oids=oids))
        url = f"{visit.request.origin.base}/{project.full_path}.git"
        header = _same_credentials(visit.request)
        if wanted.operation == "download":
            return json_answer(download_views(wanted.objects, had, url, header))
        return json_answer(upload_views(wanted.objects, had, url, header, self._settings.max_lfs_mb))

    def _verify(self, project: Project, wanted: ObjectParams) -> Answer:
        had = self._database.read(partial(sizes_in_project, project_id=project.id, oids=[wanted.oid]))
        if wanted.oid not in had:
            raise Refused(404, "Object does not exist on the server or you don't have permissions to access it")
        if had[wanted.oid] != wanted.size:
            raise Refused(422, "The object has another size.")
        return json_answer({})

    async def _lock(self, visit: Visit, words: list[str]) -> Answer:
        request, prove = visit.request, visit.claim.prove
        if not words and request.method == "GET":
            project = self._admit(visit, "git-upload-pack")
            return json_answer(self._locks.listed(project, parse_query(request.query)))
        _require_method(request, *(["POST"] if words else ["POST", "GET"]))
        project = self._admit(visit, "git-receive-pack")
        match words:
            case []:
                return await self._take_lock(visit, project)
            case ["verify"]:
                return json_answer(self._locks.verified(prove, project, await read_params(request, VerifyLocksParams)))
            case [number, "unlock"]:
                wanted = await read_params(request, UnlockParams)
                return json_answer(await self._locks.unlock(prove, project, number, wanted))
        raise Refused(404, "Not found.")

    async def _take_lock(self, visit: Visit, project: Project) -> Answer:
        wanted = await read_params(visit.request, LockParams)
        status, content = await self._locks.lock(visit.claim.prove, project, wanted)
        if status == 409:
            content = {**explained(visit.request, visit.trace, "already created lock"), **content}
        return json_answer(content, status)


def _same_credentials(request: Request) -> dict[str, str]:
    """What the requests that follow have to bring along: exactly what this one brought."""
    for name, key in (("Authorization", b"authorization"), ("Private-Token", b"private-token")):
        if key in request.headers:
            return {name: request.headers[key].decode("latin-1")}
    return {}


def _require_method(request: Request, *methods: str) -> None:
    if request.method not in methods:
        raise Refused(405, "Method not allowed.", (b"allow", ", ".join(methods).encode()))
