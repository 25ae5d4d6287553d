"""State changes of stacks: new targets, and merge requests that contain rewritten commits of a layer below them."""

from sqlalchemy import bindparam, delete

from ingot.collaboration.merge_requests.merge.queries import open_merge_requests_into
from ingot.collaboration.merge_requests.queries import open_duplicate_or_none
from ingot.collaboration.merge_requests.service import (
    emit_merge_request_changed,
    lock_merge_request_row,
    write_merge_request,
)
from ingot.collaboration.merge_requests.stacks.lower_layers import restack_or_none
from ingot.collaboration.merge_requests.tables import MergeRequest, RestackState, merge_request_restacks
from ingot.collaboration.merge_requests.versions.service import add_version
from ingot.collaboration.merge_requests.versions.source_tracker import enqueue_collection
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.jobs.queue import cancel_unique_job, enqueue
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.policy import matching_branch_rules
from ingot.repositories.protection.queries import branch_rules

RESTACK = "restack_merge_request"
_DELETE = delete(merge_request_restacks).where(merge_request_restacks.c.merge_request_id == bindparam("merge_request"))


def retarget(db: Connection, actor_id: int, merge_request: MergeRequest, branch: str) -> bool:
    """Change the target of an open merge request, for which git must then compute a new version.

    Returns False if that is impossible: it is from that branch, or an open duplicate exists.
    """
    source, target = merge_request.source_project_id, merge_request.target_project_id
    if source is None or (source, merge_request.source_branch) == (target, branch):
        return False
    if open_duplicate_or_none(db, source, merge_request.source_branch, target, branch) is not None:
        return False
    locked = lock_merge_request_row(db, merge_request)
    if locked.state != "opened" or locked.target_branch == branch:
        return False
    written = write_merge_request(db, locked, {"target_branch": branch})
    add_version(db, written.id, actor_id, written.head_oid)
    enqueue_collection(db, written.id)
    emit_merge_request_changed(db, actor_id, written, "updated", {"target_branch": (locked.target_branch, branch)})
    return True


def retarget_layers_above(db: Connection, actor_id: int, merged: MergeRequest) -> list[MergeRequest]:
    """Change the target of merge requests into the source branch of a merged one to the target of its merge.

    Returns the changed ones.
    """
    if merged.source_project_id != merged.target_project_id:
        return []
    layers = open_merge_requests_into(db, merged.target_project_id, merged.source_branch)
    return [layer for layer in layers if retarget(db, actor_id, layer, merged.target_branch)]


def mark_restack(
    db: Connection, merge_request_id: int, lower_id: int, actor_id: int | None, state: RestackState, delay: float = 0.0
) -> None:
    """Record that a merge request may contain rewritten commits of the layer below, or is in a train behind it.

    After the ``delay``, a job looks at the commits; if nothing has to be left out, it deletes the row.
    """
    columns = {"lower_id": lower_id, "actor_id": actor_id, "state": state, "rebased_oid": None}
    found = restack_or_none(db, merge_request_id)
    if found is None:
        db.insert(merge_request_restacks, merge_request_id=merge_request_id, created_at=db.now, **columns)
    else:
        db.update(merge_request_restacks, found.id, **columns)
    if state != "train":
        enqueue_restack(db, merge_request_id, delay)


def set_restack_state(db: Connection, restack_id: int, state: RestackState) -> None:
    """Store the state of a merge request with rewritten commits."""
    db.update(merge_request_restacks, restack_id, state=state, rebased_oid=None)


def note_rebased_head(db: Connection, restack_id: int, oid: str) -> None:
    """Store the head to which the server is about to move the source branch."""
    db.update(merge_request_restacks, restack_id, rebased_oid=oid)


def forget_restack(db: Connection, merge_request_id: int) -> None:
    """Delete the row of a merge request that has no rewritten commits any more."""
    db.run(_DELETE, merge_request=merge_request_id)


def enqueue_restack(db: Connection, merge_request_id: int, delay: float = 0.0) -> None:
    """Enqueue the job that looks for rewritten commits in a merge request, and rebases it if that is allowed."""
    key = f"{RESTACK} {merge_request_id}"
    cancel_unique_job(db, key)  # One that waits for later would take the place of one for now.
    enqueue(db, RESTACK, merge_request_id, add_duration(db.now, seconds=delay) if delay else None, key)


def is_lasting_branch(db: Connection, project: Project, branch: str) -> bool:
    """Return whether a branch continues to be a target after its merge, like a branch for development."""
    return branch == project.default_branch or bool(matching_branch_rules(branch_rules(db, project.id), branch))


def automatic_state(project: Project) -> RestackState:
    """Return the state in which rewritten commits wait, by the setting of the project."""
    return "waiting" if project.options.rebase_stacked_merge_requests else "offered"
