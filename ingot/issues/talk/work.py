"""What follows when commits were pushed: what they name hears of it, and issues that they close are closed.

Whoever pushed sees it when the push has ended. A job does it where a crash came first, and reads what a push with
very many commits or branches left; of those only the newest are read.
"""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.times import later
from ingot.events.bus import Subscriptions, emit
from ingot.git.commits import read_commits
from ingot.git.counting import Brought, Message
from ingot.git.faults import GitFailed, MissingRepository
from ingot.git.history import commits_between
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.git.updating import RefUpdate
from ingot.issues.closing import close_issue
from ingot.issues.events import Cause, CommitRead
from ingot.issues.naming import acting, named_issues
from ingot.issues.policy import Found
from ingot.issues.service import hold_issue, subject_of
from ingot.jobs.queue import enqueue, withdraw
from ingot.markup.references import Reference, closing_references, may_name_subjects, references
from ingot.notes.service import Source, add_mention
from ingot.projects.queries import project_or_none
from ingot.projects.tables import Project
from ingot.repository.changes.events import RefsChanged

READ_COMMITS = "read commits"
MOST_BRANCHES = 20
MOST_AT_ONCE = 100
"""So many commits are read while who pushed them waits."""
MOST_COMMITS = 500
LONGEST_MESSAGE = 100_000
LEFT_SECONDS = 30
"""So long a job leaves what came to the process that took the push."""
_UNKNOWN = Brought(1)
_MERGED = re.compile(r"^See merge request \S+$", re.MULTILINE)


class Pushed(msgspec.Struct, frozen=True):
    """Branches that somebody changed."""

    project_id: int
    actor_id: int
    updates: tuple[RefUpdate, ...]
    read: tuple[str, ...] = ()
    """Commits that were read already."""


class Telling(NamedTuple):
    """A commit that may name something, and whether issues that it says are closed by it."""

    message: Message
    closes: bool


class Said(msgspec.Struct, frozen=True):
    """A commit, what it names, and what of that it closes."""

    oid: str
    named: list[Reference]
    closed: list[Reference]


class CommitWork:
    """Reads commits: those of a push at once, and what is left by a job, which may run twice."""

    def __init__(self, store: Store, base_url: str) -> None:
        self._store = store
        self._base_url = base_url

    @property
    def subscriptions(self) -> Subscriptions:
        """It begins when references have changed."""
        subscriptions = Subscriptions()
        subscriptions.on(RefsChanged)(self.hear)
        return subscriptions

    def hear(self, db: Connection, event: RefsChanged) -> None:
        """Read what came into branches; a key that pushes is nobody in whose name anything could be closed."""
        grown = [update for update in event.updates if update.branch is not None and not update.deletes][:MOST_BRANCHES]
        project = project_or_none(db, event.project_id) if grown else None
        if event.actor_id is None or project is None:
            return
        pushed = Pushed(project.id, event.actor_id, tuple(grown))
        brought = [(update, event.brought.get(update.ref, _UNKNOWN)) for update in grown]
        telling = _telling(project, [(update, what.messages) for update, what in brought])
        at_once, left = telling[:MOST_AT_ONCE], telling[MOST_AT_ONCE:]
        if at_once:
            job_id = enqueue(db, READ_COMMITS, pushed, run_at=later(db.now, seconds=LEFT_SECONDS))
            db.follow_up(partial(self._read_at_once, job_id=job_id, pushed=pushed, messages=at_once))
        if left or any(what.commits > len(what.messages) for _, what in brought):
            read = tuple(one.message.oid for one in at_once)
            enqueue(db, READ_COMMITS, msgspec.structs.replace(pushed, read=read))

    def _read_at_once(self, database: Database, job_id: int, pushed: Pushed, messages: Sequence[Telling]) -> None:
        project = database.read(partial(project_or_none, project_id=pushed.project_id))
        if project is not None and project.namespace_id is not None:
            self._heed(database, project, pushed, messages)
        database.write(partial(withdraw, job_id=job_id))

    def read(self, database: Database, payload: Any) -> None:
        """Read the messages of new commits, and do what they say."""
        pushed = msgspec.convert(payload, Pushed)
        project = database.read(partial(project_or_none, project_id=pushed.project_id))
        if project is None or project.namespace_id is None:
            return
        try:
            repository = self._store.open(project.repository_key)
            came = [(update, _new_messages(repository, project, update)) for update in pushed.updates]
        except (MissingRepository, FileNotFoundError):  # Deleted meanwhile.
            return
        known = set(pushed.read)
        left = [one for one in _telling(project, came) if one.message.oid not in known]
        self._heed(database, project, pushed, left[:MOST_COMMITS])

    def _heed(self, database: Database, project: Project, pushed: Pushed, messages: Sequence[Telling]) -> None:
        """Do what commits say, each in a transaction of its own."""
        for message, closes in messages:
            text = _spoken(message.text[:LONGEST_MESSAGE])
            named = references(text, self._base_url)
            said = Said(message.oid, named, closing_references(text, self._base_url) if closes else [])
            if named:
                database.write(partial(_do, project=project, actor_id=pushed.actor_id, said=said))


def _telling(project: Project, came: Iterable[tuple[RefUpdate, Sequence[Message]]]) -> list[Telling]:
    """Each commit once that may name something; what came into the default branch may close some, and is first."""
    found: dict[str, Telling] = {}
    for update, messages in sorted(came, key=lambda one: one[0].branch != project.default_branch):
        for message in messages:
            if message.oid not in found and may_name_subjects(_spoken(message.text)):
                found[message.oid] = Telling(message, update.branch == project.default_branch)
    return list(found.values())


def _spoken(text: str) -> str:
    """A message without the line by which a merge says what it merged, which knows that already."""
    return _MERGED.sub("", text) if "See merge request " in text else text


def _new_messages(repository: Repository, project: Project, update: RefUpdate) -> list[Message]:
    fresh = _new_commits(repository, project, update, MOST_COMMITS)
    return [Message(commit.oid, commit.message) for commit in read_commits(repository, fresh)]


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
            text = f"mentioned in {_shown(project, said.oid, found)}"
            add_mention(db, actor.user_id, subject_of(found.issue), text, Source("commit", None, project.id))
    emit(db, CommitRead(project.id, project.full_path, actor, said.oid, said.named))


def _close(db: Connection, actor: Actor, project: Project, said: Said) -> set[int]:
    """Close what a commit of the default branch says that it closes; gives what it closed."""
    named = named_issues(db, actor, project.full_path, said.closed)
    closed = set()
    for found in sorted(named, key=lambda found: found.issue.id):
        cause = Cause(_shown(project, said.oid, found), "commit", project.id)
        if close_issue(db, actor, found, cause) is not None:
            closed.add(found.issue.id)
    return closed


def _shown(project: Project, oid: str, found: Found) -> str:
    near = found.issue.project_id == project.id
    return f"commit {'' if near else f'{project.full_path}@'}{oid}"
