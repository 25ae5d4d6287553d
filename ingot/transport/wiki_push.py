"""Push to a wiki: only the permission to push is checked, as wikis have no protected branches."""

from collections.abc import Sequence
from functools import partial

from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Failure, Unavailable
from ingot.core.log import log_failure
from ingot.git.core.errors import GitError
from ingot.git.core.names import ref_name_error
from ingot.git.history.commits import read_commits
from ingot.git.writing.ref_updates import RefUpdate, set_first_head
from ingot.repositories.ref_changes.apply import require_ref_limit
from ingot.repositories.ref_changes.policy import MAX_REFS
from ingot.repositories.storage_moves.mover import repeat_ref_changes
from ingot.repositories.wikis.edit import announce_page_changes, changed_pages, ensure_wiki
from ingot.repositories.wikis.owners import require_no_move_of_owner
from ingot.repositories.wikis.queries import wiki_tip_or_none
from ingot.transport.push import OK, Push, read_updates
from ingot.transport.targets import GitTarget, find_owner_again, target_refusal


class WikiPush(Push):
    """Push to a wiki; it makes no intent, because no row of the database depends on the refs of a wiki."""

    def _accept(self, updates: list[RefUpdate], quarantine: str, options: Sequence[str]) -> None:  # noqa: ARG002 - A wiki has no pipelines.
        self._check_objects(updates, quarantine)
        if len(updates) > MAX_REFS:
            raise Denied(f"A push may change {MAX_REFS} references at most.")
        for update in updates:
            self._check_update(update)
        require_ref_limit(self._repository, updates)
        self._database.read(self._require_permission)

    def _check_update(self, update: RefUpdate) -> None:
        name = update.branch or update.tag
        if name is None or (not update.deletes and ref_name_error(name) is not None):
            raise Denied(f"{update.ref} cannot be pushed: a wiki has branches and tags only.")
        if update.deletes and update.branch == self._repository.head_branch():
            raise Denied(f"{update.branch} is the branch that the wiki shows, so it cannot be deleted.")

    def _require_permission(self, db: Connection) -> None:
        caller = self._authenticate(db)
        access, target = find_owner_again(db, caller, GitTarget(self._owner, wiki=True))
        denied = target_refusal(caller, access, target, "git-receive-pack")
        if denied is not None:
            raise Denied(denied)
        require_no_move_of_owner(db, self._repository, target.owner)

    async def _record(self, lines: Sequence[str]) -> bytes:
        try:
            await self._run(partial(self._record_pages, read_updates(lines)))
        except (Failure, Unavailable, GitError) as error:
            # The push itself has succeeded; the next change queues the housekeeping again.
            log_failure("push to a wiki not recorded", error)
        return OK

    def _record_pages(self, updates: list[RefUpdate]) -> None:
        current = ensure_wiki(self._database, self._store, self._owner)
        if current.path != self._repository.path:  # It was moved to another storage after it was opened.
            before = {update.ref.encode(): update.old for update in updates if not update.creates}
            repeat_ref_changes(self._repository.path, current, before)
        set_first_head(self._repository, [update.branch for update in updates if update.creates and update.branch])
        changes = [change for update in updates for change in changed_pages(self._repository, update)]
        tip = wiki_tip_or_none(self._repository)
        message = "" if tip is None else read_commits(self._repository, [tip])[0].message.rstrip("\n")

        def record(db: Connection) -> None:
            pusher = self._authenticate(db).actor  # Deploy keys cannot push to wikis.
            announce_page_changes(db, self._owner, pusher.user_id, changes, message)

        self._database.write(record)
