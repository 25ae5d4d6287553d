"""Push to a project: requests of git's hooks, check of the ref updates, and record of those that were made."""

import asyncio
import os
import select
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.disk_errors import STORAGE_FULL
from ingot.core.errors import Denied, Failure, NotFound, Unauthenticated, Unavailable
from ingot.core.log import log_failure
from ingot.git.core.command import Config
from ingot.git.core.errors import DamagedRepository, GitError, GitTimeout, RepositoryBucketUnavailable
from ingot.git.core.repository import Repository
from ingot.git.maintenance.object_limits import size_error
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.mirror_push import VISITED_OPTION
from ingot.git.writing.packed_updates import InvalidTarget, update_many_refs
from ingot.git.writing.quarantine import largest_new_objects
from ingot.git.writing.ref_updates import RefMoved, RefNameConflict, RefUpdate
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.apply import (
    PreparedChange,
    begin_ref_updates,
    check_old_values,
    commit_ref_updates,
    discard_intent,
    finish_interrupted_intent,
    finish_pushed_updates,
    prepare_ref_updates,
)
from ingot.repositories.ref_changes.policy import MAX_REFS
from ingot.repositories.ref_changes.ports import PushOptionHandler, PushOptionResult
from ingot.repositories.ref_changes.tables import RefIntent
from ingot.repositories.wikis.owners import WikiOwner
from ingot.transport.callers import Authenticate, recorded_author
from ingot.transport.git_process import PUSH_LIMITS, GitProcess
from ingot.transport.packet_lines import encode_packet
from ingot.transport.policy import current_access
from ingot.transport.push_messages import ClientAddress, merge_request_links, moved_message, option_warnings
from ingot.transport.refusals import storage_refusal

MAX_REFS_BY_GIT = 20
"""Above this number git, which syncs a file per ref to disk, takes longer than one update of packed-refs."""
MAX_HOOK_REQUEST_BYTES = 8 * 2**20
MAX_HELD_BYTES = 32 * 2**20
FINISH_SECONDS = 10.0
_EXPECTED_ERRORS = (Failure, Unavailable, GitError, DamagedRepository, OSError)
_MEGABYTE = 2**20
_OPTION = "option "


class Push:
    """Push in progress; its hooks communicate with it over two pipes that the git process inherits.

    After the check has accepted the push, git's output is held until the change is recorded, so that a client that has
    seen its push succeed finds it in every other call.
    """

    def __init__(
        self,
        database: Database,
        pool: Executor,
        store: RepositoryStore,
        repository: Repository,
        owner: WikiOwner,
        authenticate: Authenticate,
        *,
        via: str,
        address: ClientAddress,
        base_url: str,
        max_file_mb: int,
        visited: str = "",
    ) -> None:
        self._database = database
        self._pool = pool
        self._store = store
        self._repository = repository
        self._owner = owner
        self._authenticate = authenticate
        self._via = via
        self._address = address
        self._base_url = base_url
        self._max_file_mb = max_file_mb
        self._visited = visited
        self._intent: RefIntent | None = None
        self._prepared: PreparedChange | None = None
        """The accepted change of a repository in a bucket, which has no intent."""
        self._committed: RefIntent | None = None
        """The change that a transaction has made and recorded."""
        self._packs: list[str] = []
        self._accepted_updates: list[RefUpdate] = []
        self._updates: list[RefUpdate] = []
        self._held: list[bytes] | None = None
        self._hook_server: asyncio.Task[None] | None = None

    @property
    def _project(self) -> Project:
        """Project of the push; a push to a wiki, whose owner may be a group, does not use it."""
        if not isinstance(self._owner, Project):
            raise NotFound("Project")
        return self._owner

    @property
    def accepted(self) -> bool:
        """Whether the check has accepted the push; the rest takes moments and should not be interrupted."""
        return self._held is not None

    @property
    def made_updates(self) -> bool:
        """Whether git has reported that refs were updated."""
        return bool(self._updates)

    async def start(self, args: Sequence[str], config: Config, env: Mapping[str, str]) -> GitProcess:
        """Run git, and serve the requests of its hooks."""
        requests, hook_requests = os.pipe()
        hook_replies, replies = os.pipe()
        hook_env = {"INGOT_HOOK_REQUEST": str(hook_requests), "INGOT_HOOK_REPLY": str(hook_replies)}
        try:
            process = await GitProcess.start(
                args,
                self._repository.path,
                config=config,
                env={**env, **hook_env},
                pass_fds=(hook_requests, hook_replies),
                limits=PUSH_LIMITS,
            )
        except BaseException:
            os.close(requests)
            os.close(replies)
            raise
        finally:  # The git process has inherited its ends of the pipes.
            os.close(hook_requests)
            os.close(hook_replies)
        self._hook_server = asyncio.ensure_future(self._serve_hooks(requests, replies))
        return process

    def hold(self, chunk: bytes) -> list[bytes]:
        """Return the chunks of git's output that may be sent now, and hold the others."""
        if self._held is None:
            return [chunk]
        self._held.append(chunk)
        if sum(map(len, self._held)) > MAX_HELD_BYTES:
            raise Unavailable("The output of git for a push exceeds the buffer")
        return []

    async def conclude(self, status: int) -> list[bytes]:
        """Record the changes unless the hook has done so, and return the output that was held."""
        if self._hook_server is not None:
            await self._hook_server
        intent = self._intent
        if intent is not None:
            if self._updates:
                await self._run(partial(finish_pushed_updates, self._database, self._repository, intent, self._updates))
            elif status < 0:
                await self._run(partial(finish_interrupted_intent, self._database, self._repository, intent))
            else:  # Git ended by itself without calling post-receive, so no ref has changed.
                await self._run(partial(discard_intent, self._database, intent))
            self._intent = None
        held, self._held = self._held or [], None
        return held

    async def finish(self, process: GitProcess) -> None:
        """End git and record the changes, however the exchange ended."""
        if self.accepted:
            try:
                await asyncio.wait_for(process.wait(), FINISH_SECONDS)
            except TimeoutError:
                process.kill()
        else:
            process.kill()
        status = await process.wait()
        try:
            await self.conclude(status)
        except (Failure, Unavailable) as error:  # A job resolves the intent when the database is available again.
            log_failure("push not recorded yet", error, owner_id=self._owner.id)

    async def _serve_hooks(self, requests: int, replies: int) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_HOOK_REQUEST_BYTES)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(requests, "rb", 0)
        )
        try:
            while request := await _read_request(reader):
                hook, *lines = request
                if hook.startswith("pre-receive "):
                    reply = await self._check(hook, lines)
                else:
                    reply = await (self._update() if hook == "proc-receive" else self._record(lines))
                await self._send_reply(replies, reply)
        except BrokenPipeError:  # Git was killed; a comparison with the refs shows what has changed.
            pass
        finally:
            transport.close()
            os.close(replies)

    async def _send_reply(self, replies: int, reply: bytes) -> None:
        if len(reply) <= select.PIPE_BUF:
            _write_all(replies, reply)
        else:  # The report of a large push blocks until the hook has read it.
            await asyncio.get_running_loop().run_in_executor(None, _write_all, replies, reply)

    async def _check(self, hook: str, lines: Sequence[str]) -> bytes:
        try:
            options, lines = _split_options(lines)
            updates = read_updates(lines)
            quarantine = hook.removeprefix("pre-receive ")
            self._intent = await self._run(partial(self._accept, updates, quarantine, options))
        except _EXPECTED_ERRORS as error:
            return _reply("no", [_error_message(error)])
        self._accepted_updates = updates
        self._held = []
        return OK

    async def _update(self) -> bytes:
        """Update the refs of a large push, and leave those of a small one to git."""
        updates = self._accepted_updates
        if len(updates) <= MAX_REFS_BY_GIT and self._repository.ref_store is None:
            return _update_report("small", [(f"ok {update.ref}", "option fall-through") for update in updates])
        try:
            await self._run(partial(self._update_at_once, updates))
        except (RefMoved, RefNameConflict, InvalidTarget, *_EXPECTED_ERRORS) as error:
            log_failure("refs of a push not updated", error, owner_id=self._owner.id)
            reason = _update_error_message(error)
            return _update_report("large", [(f"ng {update.ref} {reason}",) for update in updates])
        return _update_report("large", [(f"ok {update.ref}",) for update in updates])

    def _update_at_once(self, updates: list[RefUpdate]) -> None:
        """Update all refs, and record that where both are one transaction."""
        if self._prepared is None:
            update_many_refs(self._repository, updates)
            return
        commit_ref_updates(self._database, self._repository, self._prepared, updates, self._packs)
        self._committed = self._prepared.intent

    def _accept(self, updates: list[RefUpdate], quarantine: str, options: Sequence[str]) -> RefIntent | None:
        env = self._check_objects(updates, quarantine)
        actor, deploy_key_id = self._database.read(self._author)
        prepared = prepare_ref_updates(
            self._database,
            self._repository,
            actor,
            self._access,
            updates,
            via=self._via,
            deploy_key_id=deploy_key_id,
            env=env,
            push_options=[*options, f"{VISITED_OPTION}{self._visited}"] if self._visited else options,
        )
        if self._repository.ref_store is None:
            return begin_ref_updates(self._database, prepared)
        self._prepared = prepared
        return None

    def _check_objects(self, updates: list[RefUpdate], quarantine: str) -> dict[str, str]:
        """Refuse pushes that no repository accepts; return the environment in which git finds the pushed objects."""
        env = _quarantine_environment(self._repository, quarantine)
        if env:
            self._packs = [pack.stem for pack in Path(quarantine).glob("pack/*.pack")]
            try:
                self._check_sizes(largest_new_objects(self._repository, Path(quarantine)))
            except GitTimeout as error:
                raise Denied("The objects of this push take too long to check.") from error
        check_old_values(self._repository, updates)
        return env

    def _check_sizes(self, largest: Mapping[str, int]) -> None:
        """Refuse files larger than the setting allows, and other objects that would be read as a whole."""
        if self._max_file_mb and largest.get("blob", 0) > self._max_file_mb * _MEGABYTE:
            raise Denied(f"A file is larger than the {self._max_file_mb} MB that are allowed.")
        error = size_error(largest)
        if error is not None:
            raise Denied(error)

    def _author(self, db: Connection) -> tuple[Actor, int | None]:
        """Return the user to record as author, and the id of the deploy key if one pushes."""
        caller = self._authenticate(db)
        return recorded_author(db, caller, self._project), caller.deploy_key_id

    def _access(self, db: Connection) -> tuple[Access, Project]:
        _, access, project = current_access(db, self._authenticate, self._project, "git-receive-pack")
        return access, project

    async def _record(self, lines: Sequence[str]) -> bytes:
        self._updates = read_updates(lines)
        applied = PushOptionResult()
        try:
            intent = self._intent
            if intent is not None:
                await self._run(partial(finish_pushed_updates, self._database, self._repository, intent, self._updates))
                self._intent, self._committed = None, intent
            if self._committed is not None:
                applied = await self._run(partial(self._apply_options, self._committed))
            messages = await self._database.read_async(partial(self._messages, applied=applied), self._pool)
        except (Failure, Unavailable) as error:  # Retried when git has ended.
            log_failure("push not recorded at once", error, owner_id=self._owner.id)
            return OK
        return _reply("ok", messages)

    def _apply_options(self, intent: RefIntent) -> PushOptionResult:
        if not intent.push_options:
            return PushOptionResult()
        try:
            return self._database.ports[PushOptionHandler].apply(self._database, intent, self._updates)
        except _EXPECTED_ERRORS as error:  # The push is recorded; the job applies the options.
            log_failure("push options not applied at once", error, owner_id=self._owner.id)
            return PushOptionResult()

    def _messages(self, db: Connection, applied: PushOptionResult) -> list[str]:
        """Return the lines that git prints after the push."""
        project = existing_project(db, self._project.id)
        links = merge_request_links(db, project, self._updates, self._base_url, applied.merge_requests)
        return [*moved_message(db, project, self._address), *option_warnings(applied.warnings), *links]

    async def _run(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _split_options(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate the options of ``git push -o`` from the ref updates of a push."""
    options = [line.removeprefix(_OPTION) for line in lines if line.startswith(_OPTION)]
    return options, [line for line in lines if not line.startswith(_OPTION)]


def _quarantine_environment(repository: Repository, quarantine: str) -> dict[str, str]:
    """Return the environment in which git finds objects in quarantine; a push that only deletes has none."""
    if not quarantine:
        return {}
    # Git reports the resolved path, also where the data directory is reached by a symbolic link.
    objects = repository.path.resolve() / "objects"
    if Path(quarantine).resolve().parent != objects:
        raise Denied("The objects of this push are in an unexpected directory.")
    return {
        "GIT_OBJECT_DIRECTORY": quarantine,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
        "GIT_QUARANTINE_PATH": quarantine,
    }


async def _read_request(reader: asyncio.StreamReader) -> list[str]:
    """Return the lines of one hook up to an empty one; nothing when the last process has closed its end.

    A request above the limit is read to its end, and only its first line is returned.
    """
    lines: list[str] = []
    size = 0
    while line := await reader.readline():
        size += len(line)
        if line == b"\n":
            return lines if size <= MAX_HOOK_REQUEST_BYTES else lines[:1]
        if size <= MAX_HOOK_REQUEST_BYTES:
            lines.append(line.decode(errors="surrogateescape").removesuffix("\n"))
    return []


def _error_message(error: Exception) -> str:
    """Return the message for the user whose push was rejected."""
    if isinstance(error, Denied):
        return error.reason
    if isinstance(error, Unauthenticated):
        return "Your password, token or key has been revoked."
    if isinstance(error, NotFound):
        return "The project could not be found or you don't have permission to view it any more."
    if storage_refusal(error):
        return STORAGE_FULL
    if isinstance(error, RepositoryBucketUnavailable):
        return str(error)
    if isinstance(error, Unavailable):
        return "The server is busy. Push again in a moment."
    return "The repository cannot be read or written at this moment."


def _update_error_message(error: Exception) -> str:
    """Return the reason why none of the refs of a push was updated."""
    if isinstance(error, RefMoved):
        return "another push has changed one of these refs in the meantime"
    if isinstance(error, RefNameConflict):
        return f"{error.wanted} cannot exist beside {error.other}"
    if isinstance(error, InvalidTarget):
        return f"{error.ref} would not point at a commit"
    return _error_message(error)


def _update_report(size: str, results: Iterable[Sequence[str]]) -> bytes:
    """Return the reply to the hook proc-receive: whether git has to wait for it, and the packets of the report."""
    packets = (encode_packet(f"{line}\n".encode()) for result in results for line in result)
    return b"".join((f"{size}\n".encode(), *packets, b".\n"))


def read_updates(lines: Sequence[str]) -> list[RefUpdate]:
    """Parse the ref updates that a hook sends."""
    if not lines:
        raise Denied(f"A push may change {MAX_REFS} references at most.")
    updates = []
    for line in lines:
        old, new, ref = line.split(" ", 2)
        try:
            ref.encode()
        except UnicodeEncodeError:
            raise Denied("The name of a branch or tag must be valid UTF-8.") from None
        updates.append(RefUpdate(ref, old, new))
    return updates


def _reply(verdict: str, lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in (verdict, *lines, ".")).encode()


OK = _reply("ok", [])
"""Reply that lets git continue, without a message."""


def _write_all(descriptor: int, reply: bytes) -> None:
    """Write all bytes of a reply."""
    while reply:
        reply = reply[os.write(descriptor, reply) :]
