"""Tracking of the heads of source branches: the row changes with the push, and git follows after the commit.

The commits of a push are in the source repository and must be fetched into the target repository. The row of a version
is therefore written with the push, and completed when the target has the commits; a job completes it after a crash.
"""

from functools import partial
from typing import NamedTuple

import msgspec
from sqlalchemy import bindparam, select

from ingot.collaboration.merge_requests.approval_rules.limits import options_in_force
from ingot.collaboration.merge_requests.approvals import remove_approval, reset_approvals
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.queries import latest_version, merge_request_by_id, open_merge_requests_from
from ingot.collaboration.merge_requests.service import (
    emit_merge_request_changed,
    lock_merge_request_row,
    write_merge_request,
)
from ingot.collaboration.merge_requests.stacks.lower_layers import heads_below
from ingot.collaboration.merge_requests.tables import DiffVersion, MergeRequest, merge_request_versions, merge_requests
from ingot.collaboration.merge_requests.versions.events import DiffNotesOutdated, VersionCollected
from ingot.collaboration.merge_requests.versions.inspection import compare_with_target
from ingot.collaboration.merge_requests.versions.line_notes import diff_notes, move_diff_notes
from ingot.collaboration.merge_requests.versions.positions import trace_position
from ingot.collaboration.merge_requests.versions.service import COLLECTING, add_version, complete_version
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.core.events.bus import Subscriptions, emit
from ingot.core.jobs.queue import enqueue
from ingot.git.core.errors import MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_request_commits import delete_head_ref, update_head_ref
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import projects
from ingot.repositories.ref_changes.events import RefsChanged

COLLECT_VERSIONS = "complete_diff_versions"
_HEAD = select(merge_requests.c.head_oid).where(
    merge_requests.c.id == bindparam("merge_request"), merge_requests.c.deleted_at.is_(None)
)
_WAITING = (
    select(merge_request_versions)
    .where(
        merge_request_versions.c.merge_request_id == bindparam("merge_request"),
        merge_request_versions.c.state == COLLECTING,
    )
    .order_by(merge_request_versions.c.id)
)
_source, _target = projects.alias("source"), projects.alias("target")
_SIDES = (
    select(
        merge_requests.c.iid,
        merge_requests.c.target_branch,
        _source.c.repository_key,
        _target.c.repository_key,
        merge_requests.c.deleted_at,
        merge_requests.c.source_branch,
        merge_requests.c.head_oid,
    )
    .join(_target, _target.c.id == merge_requests.c.target_project_id)
    .outerjoin(_source, _source.c.id == merge_requests.c.source_project_id)
    .where(merge_requests.c.id == bindparam("merge_request"))
)


class _TrackedSides(NamedTuple):
    iid: int
    target_branch: str
    source_key: str | None
    target_key: str
    deleted_at: Timestamp | None
    source_branch: str
    head_oid: str


def source_head_of(database: Database, merge_request_id: int) -> str | None:
    """Return the current head of the source, or None if the merge request is deleted."""
    head: str | None = database.read(lambda db: db.value(_HEAD, merge_request=merge_request_id))
    return head


def enqueue_collection(db: Connection, merge_request_id: int) -> None:
    """Enqueue the job that completes versions, in case the process crashes before it does so itself."""
    enqueue(db, COLLECT_VERSIONS, merge_request_id, unique_key=f"{COLLECT_VERSIONS} {merge_request_id}")


class HeadTracker:
    """Updates the repositories after changes of merge requests, in the process that made the changes."""

    def __init__(self, store: RepositoryStore, database: Database | None = None) -> None:
        self._store = store
        self._database = database
        self.subscriptions = Subscriptions()
        self.subscriptions.on(RefsChanged)(self.on_refs_changed)
        self.subscriptions.on(MergeRequestChanged)(self.on_merge_request_opened)

    def on_refs_changed(self, db: Connection, event: RefsChanged) -> None:
        """Move the heads of the open merge requests whose source branches were pushed."""
        moved = {update.branch: update.new for update in event.updates if update.branch and not update.deletes}
        for merge_request in open_merge_requests_from(db, event.project_id, list(moved)) if moved else ():
            if move_head(db, merge_request, moved[merge_request.source_branch], event.actor_id):
                enqueue_collection(db, merge_request.id)
                db.after_commit(partial(self._collect_now, merge_request.id))

    def on_merge_request_opened(self, db: Connection, event: MergeRequestChanged) -> None:
        """Catch up with pushes since the comparison of a new or reopened merge request.

        A new target branch needs a new version.
        """
        if event.action in ("opened", "reopened"):
            db.after_commit(partial(self._catch_up, event.merge_request_id))
        elif "target_branch" in event.changes:
            db.after_commit(partial(self._collect_now, event.merge_request_id))

    def _catch_up(self, merge_request_id: int, db: Connection) -> None:
        rows = db.rows(_SIDES, merge_request=merge_request_id)
        sides = _TrackedSides(*rows[0]) if rows else None
        if self._database is None or sides is None or sides.source_key is None:
            return
        try:
            tip = branch_tip(self._store.open(sides.source_key), sides.source_branch)
        except MissingRepository:  # Deleted since the row was read.
            return
        if tip is not None and tip != sides.head_oid:
            self._database.write(partial(_move_to_head, merge_request_id=merge_request_id, head_oid=tip))
            self._collect_now(merge_request_id, db)

    def _collect_now(self, merge_request_id: int, db: Connection) -> None:  # noqa: ARG002 - Callbacks after a commit receive its connection.
        if self._database is None:
            return
        self.collect(self._database, merge_request_id)  # Failures are logged; the job retries.

    def collect(self, database: Database, merge_request_id: int) -> None:
        """Complete the versions of a merge request, and update the ref that clients fetch."""
        rows = database.read(lambda db: db.rows(_SIDES, merge_request=merge_request_id))
        if not rows:
            return
        sides = _TrackedSides(*rows[0])
        try:
            target = self._store.open(sides.target_key)
            if sides.deleted_at is not None:
                delete_head_ref(target, sides.iid)
                return
            for version in database.read(lambda db: db.all(DiffVersion, _WAITING, merge_request=merge_request_id)):
                same_repository = sides.source_key in (None, sides.target_key)
                source = None if same_repository or sides.source_key is None else self._store.open(sides.source_key)
                self._complete(database, source, target, sides.target_branch, version)
        except MissingRepository:  # One of the projects was deleted.
            return
        update_head_ref(target, sides.iid, lambda: source_head_of(database, merge_request_id))

    def _complete(
        self, database: Database, source: Repository | None, target: Repository, branch: str, version: DiffVersion
    ) -> None:
        before = database.read(partial(latest_version, merge_request_id=version.merge_request_id))
        merge_request = database.read(partial(merge_request_by_id, merge_request_id=version.merge_request_id))
        lower_heads = database.read(partial(heads_below, merge_request=merge_request))
        previous = before.head_oid if before else None
        comparison = compare_with_target(source, target, version.head_oid, branch, previous, lower_heads)
        positions = database.read(partial(diff_notes, version=before)) if before else {}
        # All notes of a discussion have the same position, which is traced once.
        distinct = {msgspec.json.encode(position): position for position in positions.values()}
        traced = {key: trace_position(target, position, comparison) for key, position in distinct.items()}
        moved = {note_id: traced[msgspec.json.encode(position)] for note_id, position in positions.items()}

        def write(db: Connection) -> None:
            if complete_version(db, version, comparison):
                emit(db, VersionCollected(version.merge_request_id, version.pushed_by_id, comparison, before))
                move_diff_notes(db, moved)
                outdated = tuple(note_id for (draft, note_id), line in moved.items() if line is None and not draft)
                if outdated:
                    emit(db, DiffNotesOutdated(version.merge_request_id, version.pushed_by_id, outdated))

        database.write(write)


def _move_to_head(db: Connection, merge_request_id: int, head_oid: str) -> None:
    if move_head(db, merge_request_by_id(db, merge_request_id), head_oid, None):
        enqueue_collection(db, merge_request_id)


def move_head(db: Connection, merge_request: MergeRequest, head_oid: str, pusher_id: int | None) -> bool:
    """Set the head of an open merge request; return False if it has this head already."""
    try:
        locked = lock_merge_request_row(db, merge_request)
    except NotFound:  # A deleted merge request must not fail the other changes of a push.
        return False
    if locked.head_oid == head_oid or locked.state != "opened":
        return False
    written = write_merge_request(db, locked, {"head_oid": head_oid})
    add_version(db, locked.id, pusher_id, head_oid)
    target = project_or_none(db, locked.target_project_id)
    options = None if target is None else options_in_force(db, target.options)
    if options is not None and options.reset_approvals_on_push:
        reset_approvals(db, locked)
    elif options is not None and options.merge_requests_disable_committers_approval and pusher_id is not None:
        remove_approval(db, locked, pusher_id)
    emit_merge_request_changed(
        db, pusher_id or locked.author_id, written, "updated", {"head_oid": (locked.head_oid, head_oid)}
    )
    return True
