"""Processing of pushed commit messages: mentions in issues and merge requests, and closing of issues.

The commits of a push are processed right after its transaction. A job processes them if the process crashed before, and
processes the remaining commits of a large push, of which only the newest are read.
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
from ingot.core.log import log_failure
from ingot.core.markup.references import Reference, can_mention_subjects, closing_references, extract_references
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import read_commits
from ingot.git.history.log import commits_between
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.change_summary import CommitMessage, PushSummary
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.queries import existing_project, project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.events import RefsChanged

READ_COMMITS = "process_commit_messages"
MAX_BRANCHES = 20
MAX_INLINE_COMMITS = 100
"""Number of commits that are processed while the pusher waits for the response."""
MAX_COMMITS = 500
MAX_MESSAGE_LENGTH = 100_000
JOB_DELAY_SECONDS = 30
"""Delay of the job that takes over if the process of the push crashed."""
_UNKNOWN = PushSummary(1)
_MERGE_LINE = re.compile(r"^See merge request \S+$", re.MULTILINE)


class PushedBranches(msgspec.Struct, frozen=True):
    """Payload of the job: the branches that a user changed."""

    project_id: int
    actor_id: int
    updates: tuple[RefUpdate, ...]
    read: tuple[str, ...] = ()
    """Ids of the commits that were processed already."""


class ReferencingCommit(NamedTuple):
    """A commit whose message may contain references, and whether it may close issues."""

    message: CommitMessage
    closes: bool


class CommitReferences(msgspec.Struct, frozen=True):
    """A commit with its references and the references to issues that it closes."""

    oid: str
    named: list[Reference]
    closed: list[Reference]


class CommitMessageJob:
    """Processes commit messages: at once after a push, and the rest in a job, which may run twice."""

    def __init__(self, store: RepositoryStore, base_url: str) -> None:
        self._store = store
        self._base_url = base_url

    @property
    def subscriptions(self) -> Subscriptions:
        """Subscription to ``RefsChanged``."""
        subscriptions = Subscriptions()
        subscriptions.on(RefsChanged)(self.on_refs_changed)
        return subscriptions

    def on_refs_changed(self, db: Connection, event: RefsChanged) -> None:
        """Process the new commits of branches.

        Pushes with a deploy key are ignored, because they have no user in whose name issues could be closed.
        """
        updates = [update for update in event.updates if update.branch is not None and not update.deletes][
            :MAX_BRANCHES
        ]
        if event.actor_id is None or not updates:
            return
        pushed = PushedBranches(event.project_id, event.actor_id, tuple(updates))
        summaries = [(update, event.summaries.get(update.ref, _UNKNOWN)) for update in updates]
        commits: list[ReferencingCommit] = []
        if any(
            can_mention_subjects(_without_merge_line(message.text))
            for _, summary in summaries
            for message in summary.messages
        ):
            project = existing_project(db, event.project_id)
            commits = _referencing_commits(project, [(update, summary.messages) for update, summary in summaries])
        immediate, remaining = commits[:MAX_INLINE_COMMITS], commits[MAX_INLINE_COMMITS:]
        if immediate:
            job_id = enqueue(db, READ_COMMITS, pushed, run_at=add_duration(db.now, seconds=JOB_DELAY_SECONDS))
            db.after_transaction(partial(self._read_at_once, job_id=job_id, pushed=pushed, messages=immediate))
        if remaining or any(summary.commits > len(summary.messages) for _, summary in summaries):
            read = tuple(commit.message.oid for commit in immediate)
            enqueue(db, READ_COMMITS, msgspec.structs.replace(pushed, read=read))

    def _read_at_once(
        self, database: Database, job_id: int, pushed: PushedBranches, messages: Sequence[ReferencingCommit]
    ) -> None:
        project = database.read(partial(project_or_none, project_id=pushed.project_id))
        if project is not None and project.namespace_id is not None:
            self._apply_commits(database, project, pushed, messages)
        database.write(partial(cancel_job, job_id=job_id))

    def read(self, database: Database, payload: Any) -> None:
        """Run the job: read the messages of new commits and apply them."""
        pushed = msgspec.convert(payload, PushedBranches)
        project = database.read(partial(project_or_none, project_id=pushed.project_id))
        if project is None or project.namespace_id is None:
            return
        try:
            repository = self._store.open(project.repository_key)
            messages = [(update, _new_messages(repository, project, update)) for update in pushed.updates]
        except (MissingRepository, FileNotFoundError):  # Deleted since the push.
            return
        processed = set(pushed.read)
        remaining = [
            commit for commit in _referencing_commits(project, messages) if commit.message.oid not in processed
        ]
        self._apply_commits(database, project, pushed, remaining[:MAX_COMMITS])

    def _apply_commits(
        self, database: Database, project: Project, pushed: PushedBranches, messages: Sequence[ReferencingCommit]
    ) -> None:
        """Apply the references of commits, each commit in its own transaction."""
        for message, closes in messages:
            text = _without_merge_line(message.text[:MAX_MESSAGE_LENGTH])
            references = extract_references(text, self._base_url)
            commit = CommitReferences(
                message.oid, references, closing_references(text, self._base_url) if closes else []
            )
            if references:
                database.write(partial(_apply_commit, project=project, actor_id=pushed.actor_id, commit=commit))


def _referencing_commits(
    project: Project, pushed: Iterable[tuple[RefUpdate, Sequence[CommitMessage]]]
) -> list[ReferencingCommit]:
    """Return the commits that may contain references, each once.

    Those of the default branch come first, because only they close issues.
    """
    commits: dict[str, ReferencingCommit] = {}
    for update, messages in sorted(pushed, key=lambda item: item[0].branch != project.default_branch):
        for message in messages:
            if message.oid not in commits and can_mention_subjects(_without_merge_line(message.text)):
                commits[message.oid] = ReferencingCommit(message, update.branch == project.default_branch)
    return list(commits.values())


def _without_merge_line(text: str) -> str:
    """Return a message without the line that names the merged merge request, which needs no mention."""
    return _MERGE_LINE.sub("", text) if "See merge request " in text else text


def _new_messages(repository: Repository, project: Project, update: RefUpdate) -> list[CommitMessage]:
    fresh = _new_commits(repository, project, update, MAX_COMMITS)
    return [CommitMessage(commit.oid, commit.message) for commit in read_commits(repository, fresh)]


def _new_commits(repository: Repository, project: Project, update: RefUpdate, most: int) -> list[str]:
    """Return the new commits of a branch; a new branch is compared with the default branch."""
    old: str | None = update.old
    if update.creates:
        tip = repository.tip(f"refs/heads/{project.default_branch}")
        old = tip if tip is not None and update.branch != project.default_branch else None
    try:
        return commits_between(repository, old, update.new, most)
    except GitError as error:  # Commits of a forced push may be gone.
        log_failure("new commits not listed", error)
        return []


def _apply_commit(db: Connection, project: Project, actor_id: int, commit: CommitReferences) -> None:
    actor = active_actor(db, actor_id)
    if actor is None:
        return
    closed = _close_issues(db, actor, project, commit)
    mentioned = referenced_issues(db, actor, project.full_path, commit.named)
    # A fixed order prevents deadlocks between two transactions that mention the same issues.
    for lookup in sorted(mentioned, key=lambda lookup: lookup.issue.id):
        if lookup.issue.id not in closed:
            lock_issue_row(db, lookup.issue)
            text = f"mentioned in {_visible_commit_reference(project, commit.oid, lookup)}"
            add_mention(db, actor.user_id, subject_of(lookup.issue), text, MentionSource("commit", None, project.id))
    emit(db, CommitReferencesFound(project.id, project.full_path, actor, commit.oid, commit.named))


def _close_issues(db: Connection, actor: Actor, project: Project, commit: CommitReferences) -> set[int]:
    """Close the issues that a commit of the default branch closes; return their ids."""
    if not project.options.autoclose_referenced_issues:
        return set()
    mentioned = referenced_issues(db, actor, project.full_path, commit.closed)
    closed = set()
    for lookup in sorted(mentioned, key=lambda lookup: lookup.issue.id):
        cause = ChangeCause(_visible_commit_reference(project, commit.oid, lookup), "commit", project.id)
        if close_issue(db, actor, lookup, cause) is not None:
            closed.add(lookup.issue.id)
    return closed


def _visible_commit_reference(project: Project, oid: str, lookup: IssueLookup) -> str:
    same_project = lookup.issue.project_id == project.id
    return f"commit {'' if same_project else f'{project.full_path}@'}{oid}"
