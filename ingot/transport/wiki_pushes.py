"""A push to a wiki: its branches are nobody's in particular, so all that counts is who pushes."""

from collections.abc import Sequence
from functools import partial

from ingot.core.db.connection import Connection
from ingot.errors import Denied, Failure, Unavailable
from ingot.git.core.errors import GitError
from ingot.git.core.names import ref_name_error
from ingot.git.history.commits import read_commits
from ingot.git.writing.ref_updates import RefUpdate, set_first_head
from ingot.log import log_failure
from ingot.repositories.ref_changes.policy import MAX_REFS
from ingot.repositories.wikis.queries import wiki_tip_or_none
from ingot.repositories.wikis.staged import announce_page_changes, changed_pages
from ingot.transport.callers import recorded_author
from ingot.transport.receiving import OK, Push, read_updates
from ingot.transport.targets import GitTarget, target_refusal


class WikiPush(Push):
    """The same as a push to a project, but for the gate, and that nothing is recorded."""

    def _check_updates(self, updates: list[RefUpdate], quarantine: str) -> None:
        self._checked(updates, quarantine)
        if len(updates) > MAX_REFS:
            raise Denied(f"A push may change {MAX_REFS} references at most.")
        for update in updates:
            self._check(update)
        self._database.read(self._require_access)

    def _check(self, update: RefUpdate) -> None:
        name = update.branch or update.tag
        if name is None or (not update.deletes and ref_name_error(name) is not None):
            raise Denied(f"{update.ref} cannot be pushed: a wiki has branches and tags only.")
        if update.deletes and update.branch == self._repository.head_branch():
            raise Denied(f"{update.branch} is what the wiki shows, so it cannot be deleted.")

    def _require_access(self, db: Connection) -> None:
        caller = self._prove(db)
        access, project = caller.find(db, str(self._project.id))
        denied = target_refusal(caller, access, GitTarget(project, wiki=True), "git-receive-pack")
        if denied is not None:
            raise Denied(denied)

    async def _note(self, lines: Sequence[str]) -> bytes:
        try:
            await self._work(partial(self._announce_changes, read_updates(lines)))
        except (Failure, Unavailable, GitError) as error:
            # The push itself has happened; the next change asks for tidying again.
            log_failure("push to a wiki not recorded", error)
        return OK

    def _announce_changes(self, updates: list[RefUpdate]) -> None:
        set_first_head(self._repository, [update.branch for update in updates if update.creates and update.branch])
        told = [change for update in updates for change in changed_pages(self._repository, update)]
        tip = wiki_tip_or_none(self._repository)
        message = "" if tip is None else read_commits(self._repository, [tip])[0].message.rstrip("\n")

        def note(db: Connection) -> None:
            pusher = recorded_author(db, self._prove(db), self._project)
            announce_page_changes(db, self._project.id, pusher.user_id, told, message)

        self._database.write(note)
