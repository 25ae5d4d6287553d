"""A push to a wiki: its branches are nobody's in particular, so all that counts is who pushes."""

from collections.abc import Sequence
from functools import partial

from ingot.db.connection import Connection
from ingot.errors import Denied, Failure, Unavailable
from ingot.git.names import ref_trouble
from ingot.git.updating import RefUpdate, adopt_head
from ingot.repository.changes.policy import MOST_REFS
from ingot.transport.receiving import OK, Push, read_updates
from ingot.transport.targets import Target, target_refusal
from ingot.wikis.work import ask_for_tidying


class WikiPush(Push):
    """The same as a push to a project, but for the gate, and that nothing is recorded."""

    def _gate(self, updates: list[RefUpdate], quarantine: str) -> None:
        self._checked(updates, quarantine)
        if len(updates) > MOST_REFS:
            raise Denied(f"A push may change {MOST_REFS} references at most.")
        for update in updates:
            self._check(update)
        self._database.read(self._require_standing)

    def _check(self, update: RefUpdate) -> None:
        name = update.branch or update.tag
        if name is None or (not update.deletes and ref_trouble(name) is not None):
            raise Denied(f"{update.ref} cannot be pushed: a wiki has branches and tags only.")
        if update.deletes and update.branch == self._repository.head_branch():
            raise Denied(f"{update.branch} is what the wiki shows, so it cannot be deleted.")

    def _require_standing(self, db: Connection) -> None:
        caller = self._prove(db)
        here, project = caller.find(db, str(self._project.id))
        denied = target_refusal(caller, here, Target(project, wiki=True), "git-receive-pack")
        if denied is not None:
            raise Denied(denied)

    async def _note(self, lines: Sequence[str]) -> bytes:
        created = [update.branch for update in read_updates(lines) if update.creates and update.branch]
        try:
            await self._work(partial(adopt_head, self._repository, created))
            tidy = partial(ask_for_tidying, project_id=self._project.id)
            await self._work(partial(self._database.write, tidy))
        except (Failure, Unavailable):  # The push itself has happened; the next change asks for tidying again.
            pass
        return OK
