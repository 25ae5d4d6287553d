"""A push to a wiki: its branches are nobody's in particular, so all that counts is who pushes."""

from collections.abc import Sequence
from functools import partial

from ingot.db.connection import Connection
from ingot.errors import Denied, Failure, Unavailable
from ingot.git.commits import read_commits
from ingot.git.faults import GitFailed
from ingot.git.names import ref_trouble
from ingot.git.updating import RefUpdate, adopt_head
from ingot.repository.changes.policy import MOST_REFS
from ingot.transport.callers import author_of
from ingot.transport.receiving import OK, Push, read_updates
from ingot.transport.targets import Target, target_refusal
from ingot.wikis.queries import tip_of
from ingot.wikis.work import changed_pages, note_changes


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
        try:
            await self._work(partial(self._note_changes, read_updates(lines)))
        except (Failure, Unavailable, GitFailed):
            pass  # The push itself has happened; the next change asks for tidying again.
        return OK

    def _note_changes(self, updates: list[RefUpdate]) -> None:
        adopt_head(self._repository, [update.branch for update in updates if update.creates and update.branch])
        told = [change for update in updates for change in changed_pages(self._repository, update)]
        tip = tip_of(self._repository)
        message = "" if tip is None else read_commits(self._repository, [tip])[0].message.rstrip("\n")

        def note(db: Connection) -> None:
            pusher = author_of(db, self._prove(db), self._project)
            note_changes(db, self._project.id, pusher.user_id, told, message)

        self._database.write(note)
