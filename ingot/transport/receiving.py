"""One push: what git's hooks ask while it runs, the gate's answer, and the record of what happened."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from ingot.access.levels import Access
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import Denied, Failure, Unavailable
from ingot.git.pushed import largest_new_file
from ingot.git.repository import Repository
from ingot.git.updating import RefUpdate
from ingot.projects.queries import project_by_id
from ingot.projects.tables import Project
from ingot.repository.changes.tables import RefIntent
from ingot.repository.changes.work import conclude, finish, pass_gate
from ingot.transport.callers import Prove
from ingot.transport.children import Child
from ingot.transport.greeting import merge_request_links
from ingot.transport.policy import refusal

MOST_BYTES_ASKED = 8 * 2**20
MOST_BYTES_HELD = 32 * 2**20
FINISH_SECONDS = 10.0
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
        prove: Prove,
        *,
        via: str,
        base_url: str,
        max_file_mb: int,
    ) -> None:
        self._database = database
        self._pool = pool
        self._repository = repository
        self._project = project
        self._prove = prove
        self._via = via
        self._base_url = base_url
        self._max_file_mb = max_file_mb
        self._intent: RefIntent | None = None
        self._held: list[bytes] | None = None
        self._answering: asyncio.Task[None] | None = None
        self._ask, self._asked = os.pipe()
        self._told, self._answer = os.pipe()

    @property
    def accepted(self) -> bool:
        """Whether the gate has let it through: what is left takes moments, and is better not cut off."""
        return self._held is not None

    @property
    def descriptors(self) -> tuple[int, int]:
        """What the git process inherits."""
        return self._asked, self._told

    @property
    def environment(self) -> dict[str, str]:
        """How the hooks find them."""
        return {"INGOT_ASK": str(self._asked), "INGOT_ANSWER": str(self._told)}

    async def begin(self) -> None:
        """Listen to the hooks; the git process has its ends of the pipes by now."""
        for descriptor in (self._asked, self._told):
            os.close(descriptor)
        self._answering = asyncio.ensure_future(self._answer_hooks())

    def passes(self, piece: bytes) -> list[bytes]:
        """What of git's output may go to the client now."""
        if self._held is None:
            return [piece]
        self._held.append(piece)
        if sum(map(len, self._held)) > MOST_BYTES_HELD:
            raise Unavailable("git says more about a push than can be held back")
        return []

    async def end(self) -> list[bytes]:
        """Record what happened where the hooks did not come to it; gives what was held back."""
        if self._answering is not None:
            await self._answering
        if self._intent is not None:
            await self._work(partial(conclude, self._database, self._repository, self._intent))
            self._intent = None
        return self._released()

    async def leave(self, child: Child) -> None:
        """See to it that git ends and that what it changed is recorded, however the transfer ended."""
        if self.accepted:
            try:
                await asyncio.wait_for(child.wait(), FINISH_SECONDS)
            except TimeoutError:
                child.kill()
        else:
            child.kill()
        await child.wait()
        try:
            await self.end()
        except (Failure, Unavailable):  # Settled when the database answers again.
            pass

    def _released(self) -> list[bytes]:
        held, self._held = self._held or [], None
        return held

    async def _answer_hooks(self) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MOST_BYTES_ASKED)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(self._ask, "rb", 0)
        )
        try:
            while question := await _question(reader):
                hook, *lines = question
                reply = await (self._decide(hook, lines) if hook.startswith("pre-receive ") else self._note(lines))
                _write_all(self._answer, reply)
        except BrokenPipeError:  # git was killed; what happened is seen by looking at the references.
            pass
        finally:
            transport.close()
            os.close(self._answer)

    async def _decide(self, hook: str, lines: Sequence[str]) -> bytes:
        try:
            updates = _read_updates(lines)
            quarantine = hook.removeprefix("pre-receive ")
            self._intent = await self._work(partial(self._gate, updates, quarantine))
        except (Failure, Unavailable) as error:
            reason = error.reason if isinstance(error, Denied) else "The server is busy. Push again in a moment."
            return _reply("no", [reason])
        self._held = []
        return _reply("ok", [])

    def _gate(self, updates: list[RefUpdate], quarantine: str) -> RefIntent:
        env = _where_objects_lie(self._repository, quarantine)
        if self._max_file_mb and env:
            largest = largest_new_file(self._repository, Path(quarantine))
            if largest > self._max_file_mb * _MEGABYTE:
                raise Denied(f"A file is larger than the {self._max_file_mb} MB that are allowed.")
        caller = self._database.read(self._prove)
        return pass_gate(
            self._database, self._repository, caller.actor, self._standing, updates, via=self._via, env=env
        )

    def _standing(self, db: Connection) -> tuple[Access, Project]:
        """What the caller holds at this moment: a long push may end after it was taken from them."""
        caller = self._prove(db)
        here, project = caller.find(db, str(self._project.id))
        denied = refusal(caller, here, project, "git-receive-pack")
        if denied is not None:
            raise Denied(denied)
        return here, project

    async def _note(self, lines: Sequence[str]) -> bytes:
        intent, self._intent = self._intent, None
        happened = _read_updates(lines)
        if intent is not None:
            await self._work(partial(finish, self._database, self._repository, intent, happened))
        project = self._database.read(partial(project_by_id, project_id=self._project.id))
        return _reply("ok", merge_request_links(project, happened, self._base_url))

    async def _work(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _where_objects_lie(repository: Repository, quarantine: str) -> dict[str, str]:
    """How git finds what a push brought, as long as it is not accepted; a push that only deletes brings nothing."""
    if not quarantine:
        return {}
    objects = repository.path.absolute() / "objects"
    if Path(quarantine).parent != objects:
        raise Denied("The objects of this push lie in an unexpected place.")
    return {
        "GIT_OBJECT_DIRECTORY": quarantine,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
        "GIT_QUARANTINE_PATH": quarantine,
    }


async def _question(reader: asyncio.StreamReader) -> list[str]:
    """The lines of one hook, up to an empty one; nothing when the last process has closed its end."""
    lines: list[str] = []
    asked = 0
    while line := await reader.readline():
        asked += len(line)
        if asked > MOST_BYTES_ASKED:
            raise Unavailable("A push names too many references")
        if line == b"\n":
            return lines
        lines.append(line.decode(errors="surrogateescape").removesuffix("\n"))
    return []


def _read_updates(lines: Sequence[str]) -> list[RefUpdate]:
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


def _write_all(descriptor: int, reply: bytes) -> None:
    """Small enough for a pipe to take at once."""
    while reply:
        reply = reply[os.write(descriptor, reply) :]
