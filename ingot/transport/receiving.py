"""One push: what git's hooks ask while it runs, the gate's answer, and the record of what happened."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.errors import Denied, Failure, NotFound, Unauthenticated, Unavailable
from ingot.git.core.command import Config
from ingot.git.core.errors import DamagedRepository, GitError
from ingot.git.core.repository import Repository
from ingot.git.writing.quarantine import largest_new_file
from ingot.git.writing.ref_updates import RefUpdate
from ingot.log import log_failure
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.policy import MAX_REFS
from ingot.repositories.ref_changes.staged import (
    begin_ref_updates,
    check_old_values,
    discard_intent,
    finish_interrupted_intent,
    finish_ref_updates,
)
from ingot.repositories.ref_changes.tables import RefIntent
from ingot.transport.callers import Authenticate, recorded_author
from ingot.transport.children import GitProcess
from ingot.transport.greeting import RequestedPath, merge_request_links, project_moved_message
from ingot.transport.policy import require_service

MAX_HOOK_REQUEST_BYTES = 8 * 2**20
MAX_BUFFERED_BYTES = 32 * 2**20
FINISH_TIMEOUT_SECONDS = 10.0
_EXPECTED = (Failure, Unavailable, GitError, DamagedRepository, OSError)
_MEGABYTE = 2**20


class Push:
    """A push under way; its hooks talk to it over two pipes that the git process inherits.

    Once the gate has let it through, what git says is held back until the change is recorded: a client that has
    seen its push succeed finds it in every other call.
    """

    def __init__(
        self,
        database: Database,
        pool: Executor,
        repository: Repository,
        project: Project,
        authenticate: Authenticate,
        *,
        via: str,
        asked: RequestedPath,
        base_url: str,
        max_file_mb: int,
    ) -> None:
        self._database = database
        self._pool = pool
        self._repository = repository
        self._project = project
        self._prove = authenticate
        self._via = via
        self._asked = asked
        self._base_url = base_url
        self._max_file_mb = max_file_mb
        self._intent: RefIntent | None = None
        self._happened: list[RefUpdate] = []
        self._held: list[bytes] | None = None
        self._answering: asyncio.Task[None] | None = None

    @property
    def accepted(self) -> bool:
        """Whether the gate has let it through: what is left takes moments, and is better not cut off."""
        return self._held is not None

    async def start(self, args: Sequence[str], config: Config, env: Mapping[str, str]) -> GitProcess:
        """Run git, and listen to its hooks."""
        ask, asked = os.pipe()
        told, answer = os.pipe()
        hooks = {"INGOT_ASK": str(asked), "INGOT_ANSWER": str(told)}
        try:
            child = await GitProcess.start(
                args, self._repository.path, config=config, env={**env, **hooks}, pass_fds=(asked, told)
            )
        except BaseException:
            os.close(ask)
            os.close(answer)
            raise
        finally:  # The git process has its ends of the pipes by now.
            os.close(asked)
            os.close(told)
        self._answering = asyncio.ensure_future(self._answer_hooks(ask, answer))
        return child

    def filter_output(self, piece: bytes) -> list[bytes]:
        """What of git's output may go to the client now."""
        if self._held is None:
            return [piece]
        self._held.append(piece)
        if sum(map(len, self._held)) > MAX_BUFFERED_BYTES:
            raise Unavailable("git says more about a push than can be held back")
        return []

    async def end(self, status: int) -> list[bytes]:
        """Record what happened where the hooks did not come to it; gives what was held back."""
        if self._answering is not None:
            await self._answering
        intent = self._intent
        if intent is not None:
            if self._happened:
                await self._work(partial(finish_ref_updates, self._database, self._repository, intent, self._happened))
            elif status < 0:
                await self._work(partial(finish_interrupted_intent, self._database, self._repository, intent))
            else:  # Git ended by itself and called no hook again, so nothing has changed.
                await self._work(partial(discard_intent, self._database, intent))
            self._intent = None
        return self._released()

    async def clean_up(self, child: GitProcess) -> None:
        """See to it that git ends and that what it changed is recorded, however the transfer ended."""
        if self.accepted:
            try:
                await asyncio.wait_for(child.wait(), FINISH_TIMEOUT_SECONDS)
            except TimeoutError:
                child.kill()
        else:
            child.kill()
        status = await child.wait()
        try:
            await self.end(status)
        except (Failure, Unavailable) as error:  # A job settles it when the database answers again.
            log_failure("push not recorded yet", error, project_id=self._project.id)

    def _released(self) -> list[bytes]:
        held, self._held = self._held or [], None
        return held

    async def _answer_hooks(self, ask: int, answer: int) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_HOOK_REQUEST_BYTES)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ask, "rb", 0)
        )
        try:
            while question := await _read_hook_request(reader):
                hook, *lines = question
                reply = await (self._decide(hook, lines) if hook.startswith("pre-receive ") else self._note(lines))
                _write_all(answer, reply)
        except BrokenPipeError:  # git was killed; what happened is seen by looking at the references.
            pass
        finally:
            transport.close()
            os.close(answer)

    async def _decide(self, hook: str, lines: Sequence[str]) -> bytes:
        try:
            updates = read_updates(lines)
            quarantine = hook.removeprefix("pre-receive ")
            self._intent = await self._work(partial(self._check_updates, updates, quarantine))
        except _EXPECTED as error:
            return _hook_response("no", [_refusal_message(error)])
        self._held = []
        return OK

    def _check_updates(self, updates: list[RefUpdate], quarantine: str) -> RefIntent | None:
        env = self._checked(updates, quarantine)
        actor = self._database.read(self._author)
        return begin_ref_updates(
            self._database, self._repository, actor, self._current_access, updates, via=self._via, env=env
        )

    def _checked(self, updates: list[RefUpdate], quarantine: str) -> dict[str, str]:
        """Refuse what no repository takes; gives how git finds what the push brought."""
        env = _object_environment(self._repository, quarantine)
        if self._max_file_mb and env:
            largest = largest_new_file(self._repository, Path(quarantine))
            if largest > self._max_file_mb * _MEGABYTE:
                raise Denied(f"A file is larger than the {self._max_file_mb} MB that are allowed.")
        check_old_values(self._repository, updates)
        return env

    def _author(self, db: Connection) -> Actor:
        return recorded_author(db, self._prove(db), self._project)

    def _current_access(self, db: Connection) -> tuple[Access, Project]:
        _, access, project = require_service(db, self._prove, self._project, "git-receive-pack")
        return access, project

    async def _note(self, lines: Sequence[str]) -> bytes:
        self._happened = read_updates(lines)
        try:
            if self._intent is not None:
                await self._work(
                    partial(finish_ref_updates, self._database, self._repository, self._intent, self._happened)
                )
                self._intent = None
            project = self._database.read(partial(existing_project, project_id=self._project.id))
        except (Failure, Unavailable) as error:  # Tried once more at the end.
            log_failure("push not recorded at once", error, project_id=self._project.id)
            return OK
        links = merge_request_links(project, self._happened, self._base_url)
        return _hook_response("ok", [*project_moved_message(project, self._asked), *links])

    async def _work(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _object_environment(repository: Repository, quarantine: str) -> dict[str, str]:
    """How git finds what a push brought, as long as it is not accepted; a push that only deletes brings nothing."""
    if not quarantine:
        return {}
    # Git names it by where it really lies, also where the data directory is reached by a link.
    objects = repository.path.resolve() / "objects"
    if Path(quarantine).resolve().parent != objects:
        raise Denied("The objects of this push lie in an unexpected place.")
    return {
        "GIT_OBJECT_DIRECTORY": quarantine,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
        "GIT_QUARANTINE_PATH": quarantine,
    }


async def _read_hook_request(reader: asyncio.StreamReader) -> list[str]:
    """The lines of one hook, up to an empty one; nothing when the last process has closed its end.

    A hook that says more than can be held is heard out, and then only its name counts.
    """
    lines: list[str] = []
    asked = 0
    while line := await reader.readline():
        asked += len(line)
        if line == b"\n":
            return lines if asked <= MAX_HOOK_REQUEST_BYTES else lines[:1]
        if asked <= MAX_HOOK_REQUEST_BYTES:
            lines.append(line.decode(errors="surrogateescape").removesuffix("\n"))
    return []


def _refusal_message(error: Exception) -> str:
    """What the person at the terminal is told of a push that did not get through the gate."""
    if isinstance(error, Denied):
        return error.reason
    if isinstance(error, Unauthenticated):
        return "Your password, token or key does not open anything any more."
    if isinstance(error, NotFound):
        return "The project could not be found or you don't have permission to view it any more."
    if isinstance(error, Unavailable):
        return "The server is busy. Push again in a moment."
    return "The repository cannot be read or written at this moment."


def read_updates(lines: Sequence[str]) -> list[RefUpdate]:
    """What a hook says that a push changes."""
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


def _hook_response(verdict: str, lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in (verdict, *lines, ".")).encode()


OK = _hook_response("ok", [])
"""Lets git go on, and says nothing."""


def _write_all(descriptor: int, reply: bytes) -> None:
    """Small enough for a pipe to take at once."""
    while reply:
        reply = reply[os.write(descriptor, reply) :]
