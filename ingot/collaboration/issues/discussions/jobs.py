"""What follows when commits were pushed: what they name hears of it, and issues that they close are closed.

Whoever pushed sees it when the push has ended. A job does it where a crash came first, and reads what a push with
very many commits or branches left; of those only the newest are read.
"""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from ingot.accounts.users.actors import active_actor
from ingot.collaboration.issues.auto_close import close_issue
from ingot.collaboration.issues.events import ChangeCause, CommitReferencesFound
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.service import lock_issue_row, subject_of
from ingot.collaboration.issues.text_references import referenced_issues
from ingot.collaboration.notes.service import MentionSource, add_mention
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.events.bus import Subscriptions, emit
from ingot.core.jobs.queue import cancel_job, enqueue
from ingot.core.markup.references import Reference, can_mention_subjects, closing_references, extract_references
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import read_commits
from ingot.git.history.log import commits_between
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.change_summary import CommitMessage, PushSummary
from ingot.git.writing.ref_updates import RefUpdate
from ingot.log import log_failure
from ingot.projects.projects.queries import existing_project, project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.events import RefsChanged

READ_COMMITS = "read commits"
MAX_BRANCHES = 20
MAX_INLINE_COMMITS = 100
"""So many commits are read while who pushed them waits."""
MAX_COMMITS = 500
MAX_MESSAGE_LENGTH = 100_000
JOB_DELAY_SECONDS = 30
"""So long a job leaves what came to the process that took the push."""
_UNKNOWN = PushSummary(1)
_MERGE_LINE = re.compile(r"^See merge request \S+$", re.MULTILINE)


class PushedBranches(msgspec.Struct, frozen=True):
    """Branches that somebody changed."""

    project_id: int
    actor_id: int
    updates: tuple[RefUpdate, ...]
    read: tuple[str, ...] = ()
    """Commits that were read already."""


class ReferencingCommit(NamedTuple):
    """A commit that may name something, and whether issues that it says are closed by it."""

    message: CommitMessage
    closes: bool


class CommitReferences(msgspec.Struct, frozen=True):
    """A commit, what it names, and what of that it closes."""

    oid: str
    named: list[Reference]
    closed: list[Reference]


class CommitMessageJob:
    """Reads commits: those of a push at once, and what is left by a job, which may run twice."""

    def __init__(self, store: RepositoryStore, base_url: str) -> None:
        self._store = store
        self._base_url = base_url

    @property
    def subscriptions(self) -> Subscriptions:
        """It begins when references have changed."""
        subscriptions = Subscriptions()
        subscriptions.on(RefsChanged)(self.hear)
        return subscriptions

    def hear(self, db: Connection, event: RefsChanged) -> None:
        """Read the commits that came to branches; a deploy key has no user in whose name issues could be closed."""
        grown = [update for update in event.updates if update.branch is not None and not update.deletes][:MAX_BRANCHES]
        if event.actor_id is None or not grown:
            return
        pushed = PushedBranches(event.project_id, event.actor_id, tuple(grown))
        brought = [(update, event.brought.get(update.ref, _UNKNOWN)) for update in grown]
        telling: list[ReferencingCommit] = []
        if any(
            can_mention_subjects(_without_merge_line(message.text)) for _, what in brought for message in what.messages
        ):
            project = existing_project(db, event.project_id)
            telling = _referencing_commits(project, [(update, what.messages) for update, what in brought])
        at_once, left = telling[:MAX_INLINE_COMMITS], telling[MAX_INLINE_COMMITS:]
        if at_once:
            job_id = enqueue(db, READ_COMMITS, pushed, run_at=add_duration(db.now, seconds=JOB_DELAY_SECONDS))
            db.follow_up(partial(self._read_at_once, job_id=job_id, pushed=pushed, messages=at_once))
        if left or any(what.commits > len(what.messages) for _, what in brought):
            read = tuple(one.message.oid for one in at_once)
            enqueue(db, READ_COMMITS, msgspec.structs.replace(pushed, read=read))

    def _read_at_once(
        self, database: Database, job_id: int, pushed: PushedBranches, messages: Sequence[ReferencingCommit]
    ) -> None:
        project = database.read(partial(project_or_none, project_id=pushed.project_id))
        if project is not None and project.namespace_id is not None:
            self._apply_commits(database, project, pushed, messages)
        database.write(partial(cancel_job, job_id=job_id))

    def read(self, database: Database, payload: Any) -> None:
        """Read the messages of new commits, and do what they say."""
        pushed = msgspec.convert(payload, PushedBranches)
        project = database.read(partial(project_or_none, project_id=pushed.project_id))
        if project is None or project.namespace_id is None:
            return
        try:
            repository = self._store.open(project.repository_key)
            came = [(update, _new_messages(repository, project, update)) for update in pushed.updates]
        except (MissingRepository, FileNotFoundError):  # Deleted meanwhile.
            return
        known = set(pushed.read)
        left = [one for one in _referencing_commits(project, came) if one.message.oid not in known]
        self._apply_commits(database, project, pushed, left[:MAX_COMMITS])

    def _apply_commits(
        self, database: Database, project: Project, pushed: PushedBranches, messages: Sequence[ReferencingCommit]
    ) -> None:
        """Do what commits say, each in a transaction of its own."""
        for message, closes in messages:
            text = _without_merge_line(message.text[:MAX_MESSAGE_LENGTH])
            named = extract_references(text, self._base_url)
            said = CommitReferences(message.oid, named, closing_references(text, self._base_url) if closes else [])
            if named:
                database.write(partial(_apply_commit, project=project, actor_id=pushed.actor_id, said=said))


def _referencing_commits(
    project: Project, came: Iterable[tuple[RefUpdate, Sequence[CommitMessage]]]
) -> list[ReferencingCommit]:
    """Each commit once that may name something; what came into the default branch may close some, and is first."""
    found: dict[str, ReferencingCommit] = {}
    for update, messages in sorted(came, key=lambda one: one[0].branch != project.default_branch):
        for message in messages:
            if message.oid not in found and can_mention_subjects(_without_merge_line(message.text)):
                found[message.oid] = ReferencingCommit(message, update.branch == project.default_branch)
    return list(found.values())


def _without_merge_line(text: str) -> str:
    """A message without the line by which a merge says what it merged, which knows that already."""
    return _MERGE_LINE.sub("", text) if "See merge request " in text else text


def _new_messages(repository: Repository, project: Project, update: RefUpdate) -> list[CommitMessage]:
    fresh = _new_commits(repository, project, update, MAX_COMMITS)
    return [CommitMessage(commit.oid, commit.message) for commit in read_commits(repository, fresh)]


def _new_commits(repository: Repository, project: Project, update: RefUpdate, most: int) -> list[str]:
    """What a branch leads to now and did not before; a new one is compared with the default branch."""
    old: str | None = update.old
    if update.creates:
        tip = repository.tip(f"refs/heads/{project.default_branch}")
        old = tip if tip is not None and update.branch != project.default_branch else None
    try:
        return commits_between(repository, old, update.new, most)
    except GitError as error:  # Commits of a forced push may be gone.
        log_failure("new commits not listed", error)
        return []


def _apply_commit(db: Connection, project: Project, actor_id: int, said: CommitReferences) -> None:
    actor = active_actor(db, actor_id)
    if actor is None:
        return
    closed = _close_issues(db, actor, project, said)
    named = referenced_issues(db, actor, project.full_path, said.named)
    # In one order, so that two who mention the same issues do not wait for each other both at once.
    for found in sorted(named, key=lambda found: found.issue.id):
        if found.issue.id not in closed:
            lock_issue_row(db, found.issue)
            text = f"mentioned in {_visible_commit_reference(project, said.oid, found)}"
            add_mention(db, actor.user_id, subject_of(found.issue), text, MentionSource("commit", None, project.id))
    emit(db, CommitReferencesFound(project.id, project.full_path, actor, said.oid, said.named))


def _close_issues(db: Connection, actor: Actor, project: Project, said: CommitReferences) -> set[int]:
    """Close what a commit of the default branch says that it closes; gives what it closed."""
    named = referenced_issues(db, actor, project.full_path, said.closed)
    closed = set()
    for found in sorted(named, key=lambda found: found.issue.id):
        cause = ChangeCause(_visible_commit_reference(project, said.oid, found), "commit", project.id)
        if close_issue(db, actor, found, cause) is not None:
            closed.add(found.issue.id)
    return closed


def _visible_commit_reference(project: Project, oid: str, lookup: IssueLookup) -> str:
    near = lookup.issue.project_id == project.id
    return f"commit {'' if near else f'{project.full_path}@'}{oid}"
