"""What jobs do when commits were pushed: issues that they name hear of it, and those that they close are closed.

No push waits for it, and of a push with very many commits only the newest are read.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.git.commits import Commit, read_commits
from ingot.git.faults import GitFailed, MissingRepository
from ingot.git.history import commits_between
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.git.updating import RefUpdate
from ingot.issues.closing import close_issue
from ingot.issues.events import Cause
from ingot.issues.naming import acting, named_issues
from ingot.issues.policy import Found
from ingot.issues.service import hold_issue, subject_of
from ingot.jobs.queue import enqueue
from ingot.markup.references import Reference, closing_references, references
from ingot.notes.service import Source, add_mention
from ingot.projects.queries import project_or_none
from ingot.projects.tables import Project

READ_COMMITS = "read commits"
MOST_BRANCHES = 20
MOST_COMMITS = 100
LONGEST_MESSAGE = 100_000


class Pushed(msgspec.Struct, frozen=True):
    """Branches that somebody changed."""

    project_id: int
    actor_id: int
    updates: tuple[RefUpdate, ...]


class Said(msgspec.Struct, frozen=True):
    """A commit, what it names, and what of that it closes."""

    commit: Commit
    named: list[Reference]
    closed: list[Reference]


def ask_to_read_commits(db: Connection, project_id: int, actor_id: int, updates: Sequence[RefUpdate]) -> None:
    """Let a job read what came into branches, if anything did."""
    grown = [update for update in updates if update.branch is not None and not update.deletes]
    if grown:
        enqueue(db, READ_COMMITS, Pushed(project_id, actor_id, tuple(grown[:MOST_BRANCHES])))


class CommitWork:
    """The handler of that job; it may run twice."""

    def __init__(self, store: Store, base_url: str) -> None:
        self._store = store
        self._base_url = base_url

    def read(self, database: Database, payload: Any) -> None:
        """Read the messages of new commits, and do what they say, each commit in a transaction of its own."""
        pushed = msgspec.convert(payload, Pushed)
        project = database.read(partial(project_or_none, project_id=pushed.project_id))
        if project is None or project.namespace_id is None:
            return
        try:
            repository = self._store.open(project.repository_key)
            said = _what_was_said(repository, project, pushed.updates, self._base_url)
        except (MissingRepository, FileNotFoundError):  # Deleted meanwhile.
            return
        for one in said:
            database.write(partial(_do, project=project, actor_id=pushed.actor_id, said=one))


def _what_was_said(repository: Repository, project: Project, updates: Sequence[RefUpdate], base_url: str) -> list[Said]:
    """Of each commit once; what came into the default branch may close issues, and is read first."""
    main = [update for update in updates if update.branch == project.default_branch]
    others = [update for update in updates if update.branch != project.default_branch]
    said: dict[str, Said] = {}
    for update in (*main, *others):
        room = MOST_COMMITS - len(said)
        fresh = [oid for oid in _new_commits(repository, project, update, room) if oid not in said] if room else []
        for commit in read_commits(repository, fresh):
            message = commit.message[:LONGEST_MESSAGE]
            closed = closing_references(message, base_url) if update in main else []
            said[commit.oid] = Said(commit, references(message, base_url), closed)
    return [one for one in said.values() if one.named]


def _new_commits(repository: Repository, project: Project, update: RefUpdate, most: int) -> list[str]:
    """What a branch leads to now and did not before; a new one is compared with the default branch."""
    old: str | None = update.old
    if update.creates:
        tip = repository.tip(f"refs/heads/{project.default_branch}")
        old = tip if tip is not None and update.branch != project.default_branch else None
    try:
        return commits_between(repository, old, update.new, most)
    except GitFailed:  # What was forced away may be gone, and so may be what came.
        return []


def _do(db: Connection, project: Project, actor_id: int, said: Said) -> None:
    actor = acting(db, actor_id)
    if actor is None:
        return
    closed = _close(db, actor, project, said)
    named = named_issues(db, actor, project.full_path, said.named)
    # In one order, so that two who mention the same issues do not wait for each other both at once.
    for found in sorted(named, key=lambda found: found.issue.id):
        if found.issue.id not in closed:
            hold_issue(db, found.issue)
            text = f"mentioned in {_shown(project, said.commit, found)}"
            add_mention(db, actor.user_id, subject_of(found.issue), text, Source("commit", None, project.id))


def _close(db: Connection, actor: Actor, project: Project, said: Said) -> set[int]:
    """Close what a commit of the default branch says that it closes; gives what it closed."""
    named = named_issues(db, actor, project.full_path, said.closed)
    closed = set()
    for found in sorted(named, key=lambda found: found.issue.id):
        cause = Cause(_shown(project, said.commit, found), "commit", project.id)
        if close_issue(db, actor, found, cause) is not None:
            closed.add(found.issue.id)
    return closed


def _shown(project: Project, commit: Commit, found: Found) -> str:
    near = found.issue.project_id == project.id
    return f"commit {'' if near else f'{project.full_path}@'}{commit.oid}"
