"""What merging changes: the row of the merge request, the journal of merges under way, and the issues it closes."""

from typing import Literal, NamedTuple

from sqlalchemy import bindparam, delete, func, select

from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User
from ingot.collaboration.issues import policy as issues_policy
from ingot.collaboration.issues.auto_close import close_issue
from ingot.collaboration.issues.events import ChangeCause
from ingot.collaboration.issues.queries import assignees_of
from ingot.collaboration.merge_requests.events import MergeFailed
from ingot.collaboration.merge_requests.merge.merge_options import (
    REMOVE_LEFTOVER_BRANCH,
    MergeOptions,
    encode_merge_options,
)
from ingot.collaboration.merge_requests.merge.queries import open_issues_to_close, open_merge_requests_into
from ingot.collaboration.merge_requests.queries import open_duplicate_or_none
from ingot.collaboration.merge_requests.service import (
    emit_merge_request_changed,
    lock_merge_request_row,
    write_merge_request,
)
from ingot.collaboration.merge_requests.tables import (
    MergeRequest,
    PendingMerge,
    merge_request_merges,
    merge_request_versions,
)
from ingot.collaboration.merge_requests.versions.service import add_version
from ingot.collaboration.merge_requests.versions.source_tracker import enqueue_collection
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.events.bus import emit
from ingot.core.jobs.queue import enqueue
from ingot.errors import Failure, NotFound
from ingot.projects.projects.queries import find_project, project_or_none

_DELETE_PENDING = delete(merge_request_merges).where(
    merge_request_merges.c.merge_request_id == bindparam("merge_request")
)
_DELETE_OTHER_PENDING = _DELETE_PENDING.where(merge_request_merges.c.id != bindparam("kept"))
_versions = merge_request_versions.alias()
_DELETE_NEWER_VERSIONS = delete(merge_request_versions).where(
    merge_request_versions.c.merge_request_id == bindparam("merge_request"),
    merge_request_versions.c.id
    > select(func.max(_versions.c.id))
    .where(_versions.c.merge_request_id == bindparam("merge_request"), _versions.c.head_oid == bindparam("head"))
    .scalar_subquery(),
)
_CLEANUP_DELAY_SECONDS = 5.0
_NOT_LATER = {"merge_when_pipeline_succeeds": False, "merge_user_id": None, "merge_params": None}


class MergeOutdated(Exception):
    """The merge request is not any more what a merge was made for; whoever made it looks again."""


class MergePlan(NamedTuple):
    """A merge that is made and waits for the target to move."""

    merge_request: MergeRequest
    method: str
    target_oid: str
    new_oid: str
    squash_commit_oid: str | None
    remove_source_branch: bool
    waited: bool
    """Whether it is only made because its pipeline has succeeded, which whoever wanted that may have cancelled."""


def record_pending_merge(db: Connection, actor: Actor, plan: MergePlan) -> None:
    """Say what is about to happen to a merge request, before its target moves.

    It must be what the merge was made for; what others have merged meanwhile is recorded by now.
    """
    merge_request = plan.merge_request
    held = lock_merge_request_row(db, merge_request)
    if (held.state, held.head_oid, held.target_branch) != (
        "opened",
        merge_request.head_oid,
        merge_request.target_branch,
    ):
        raise MergeOutdated
    if plan.waited and not held.merge_when_pipeline_succeeds:
        raise MergeOutdated
    db.insert(
        merge_request_merges,
        merge_request_id=held.id,
        actor_id=actor.user_id,
        method=plan.method,
        source_oid=held.head_oid,
        target_oid=plan.target_oid,
        new_oid=plan.new_oid,
        merge_commit_oid=plan.new_oid,
        squash_commit_oid=plan.squash_commit_oid,
        remove_source_branch=plan.remove_source_branch,
        created_at=db.now,
    )


def mark_merged(db: Connection, merge_request: MergeRequest, actor_id: int | None, made: PendingMerge | None) -> None:
    """The target has what a merge request brings, by a merge that was made for it or by some push.

    What happened twice at once happened once. One that was closed while its merge was under way is merged all the
    same, since the branch has it; a mere push does not open what somebody has closed.
    """
    held = _locked_row_or_none(db, merge_request)
    if held is None or held.state == "merged" or (made is None and held.state != "opened"):
        return
    who = actor_id if made is None else made.actor_id
    if made is not None and made.source_oid != held.head_oid:
        _restore_merged_head(db, held, made)
    merged = write_merge_request(
        db,
        held,
        {
            "state": "merged",
            "head_oid": made.source_oid if made else held.head_oid,
            "merged_at": db.now,
            "merged_by_id": who,
            "merge_commit_oid": made.merge_commit_oid if made else None,
            "squash_commit_oid": made.squash_commit_oid if made else None,
            "merge_error": None,
            "merge_when_pipeline_succeeds": False,
            "closed_at": None,
            "closed_by_id": None,
        },
    )
    _keep_branch_removal(db, held, made)
    emit_merge_request_changed(db, who or held.author_id, merged, "merged", {"state": (held.state, "merged")})
    _close_issues(db, merged, who or held.author_id)


def _keep_branch_removal(db: Connection, merge_request: MergeRequest, made: PendingMerge | None) -> None:
    """Nothing is under way any more; but what says that the source branch is to go stays until it has gone.

    Whoever merges removes it right after this; a job does where a crash came between.
    """
    if made is None or not made.remove_source_branch:
        delete_pending_merges(db, merge_request.id)
        return
    db.run(_DELETE_OTHER_PENDING, merge_request=merge_request.id, kept=made.id)
    soon = add_duration(db.now, seconds=_CLEANUP_DELAY_SECONDS)
    enqueue(db, REMOVE_LEFTOVER_BRANCH, merge_request.id, soon, f"{REMOVE_LEFTOVER_BRANCH} {merge_request.id}")


def delete_pending_merges(db: Connection, merge_request_id: int) -> None:
    """Nothing is to be done any more for a merge."""
    db.run(_DELETE_PENDING, merge_request=merge_request_id)


def _locked_row_or_none(db: Connection, merge_request: MergeRequest) -> MergeRequest | None:
    """The same, held; nothing where somebody has deleted it meanwhile, which must not stop what others do."""
    try:
        return lock_merge_request_row(db, merge_request)
    except NotFound:
        return None


def _restore_merged_head(db: Connection, merge_request: MergeRequest, made: PendingMerge) -> None:
    """Somebody pushed while the merge was under way: it was of what was there before, and that is what it shows."""
    db.run(_DELETE_NEWER_VERSIONS, merge_request=merge_request.id, head=made.source_oid)
    enqueue_collection(db, merge_request.id)


def _close_issues(db: Connection, merge_request: MergeRequest, user_id: int) -> None:
    """Close the issues that a merge request names, if it was merged into the default branch by who may close them."""
    closed = open_issues_to_close(db, merge_request)
    if not closed:
        return
    project = project_or_none(db, merge_request.target_project_id)
    user = user_or_none(db, user_id)
    if project is None or user is None or merge_request.target_branch != project.default_branch:
        return
    actor = actor_for(user)
    sign = f"!{merge_request.iid}"
    for issue in closed:
        try:
            access, home = find_project(db, actor, issue.project_id)
        except Failure:  # Hidden from them.
            continue
        assignees = tuple(assignees_of(db, [issue.id]).get(issue.id, ()))
        found = issues_policy.IssueLookup(access, home, issue, assignees)
        if issues_policy.may_read_issue(actor, access, found):
            shown = sign if home.id == project.id else f"{project.full_path}{sign}"
            cause = ChangeCause(f"merge request {shown}", "merge_request", project.id, merge_request.id)
            close_issue(db, actor, found, cause)


def actor_for(user: User) -> Actor:
    """A user for whom something is done while they are not there."""
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)


def schedule_auto_merge(
    db: Connection, actor: Actor, merge_request: MergeRequest, options: MergeOptions
) -> MergeRequest:
    """Let it be merged when the pipeline of its head succeeds; who asked first stays the one in whose name it is."""
    held = lock_merge_request_row(db, merge_request)
    if held.state != "opened" or held.head_oid != merge_request.head_oid:
        raise MergeOutdated
    who = held.merge_user_id if held.merge_when_pipeline_succeeds and held.merge_user_id else actor.user_id
    columns = {
        "merge_when_pipeline_succeeds": True,
        "merge_user_id": who,
        "merge_params": encode_merge_options(options),
    }
    written = write_merge_request(db, held, {**columns, "merge_error": None})
    if not held.merge_when_pipeline_succeeds:
        emit_merge_request_changed(
            db, actor.user_id, written, "updated", {"merge_when_pipeline_succeeds": (False, True)}
        )
    return written


def cancel_merge(db: Connection, actor_id: int, merge_request: MergeRequest) -> None:
    """Let it not be merged by itself any more; nothing changes where it was not to be, or somebody was faster."""
    held = _locked_row_or_none(db, merge_request)
    if held is not None and held.state == "opened" and held.merge_when_pipeline_succeeds:
        written = write_merge_request(db, held, dict(_NOT_LATER))
        emit_merge_request_changed(db, actor_id, written, "updated", {"merge_when_pipeline_succeeds": (True, False)})


def abort_auto_merge(db: Connection, merge_request: MergeRequest, reason: str, *, failed: bool = False) -> None:
    """A merge that was to happen by itself does not, be it that its pipeline has ``failed``; who is concerned hears."""
    held = _locked_row_or_none(db, merge_request)
    if held is None or not held.merge_when_pipeline_succeeds or held.state != "opened":
        return
    who = held.merge_user_id or held.author_id
    written = write_merge_request(db, held, {**_NOT_LATER, "merge_error": reason})
    emit_merge_request_changed(db, who, written, "updated", {"merge_when_pipeline_succeeds": (True, False)})
    cause: Literal["build_failed", "unmergeable"] = "build_failed" if failed else "unmergeable"
    emit(db, MergeFailed(held.id, held.target_project_id, held.merge_user_id, cause))


def record_merge_error(db: Connection, merge_request: MergeRequest, reason: str | None) -> None:
    """Keep why something did not go, where people look for it."""
    held = lock_merge_request_row(db, merge_request)
    if held.merge_error != reason:
        write_merge_request(db, held, {"merge_error": reason})


def retarget_merge_requests(db: Connection, actor: Actor, merged: MergeRequest) -> list[int]:
    """Those into a branch that goes because it is merged go where that went, unless such a one is open there.

    Gives their numbers: git is still to be asked what they bring to where they go now.
    """
    turned: list[int] = []
    if merged.source_project_id != merged.target_project_id:
        return turned
    for each in open_merge_requests_into(db, merged.target_project_id, merged.source_branch):
        if each.source_project_id is None or (each.source_project_id, each.source_branch) == (
            merged.target_project_id,
            merged.target_branch,
        ):
            continue
        place = each.target_project_id, merged.target_branch
        if open_duplicate_or_none(db, each.source_project_id, each.source_branch, *place) is not None:
            continue
        written = write_merge_request(db, lock_merge_request_row(db, each), {"target_branch": merged.target_branch})
        add_version(db, each.id, actor.user_id, written.head_oid)
        enqueue_collection(db, each.id)
        change = each.target_branch, merged.target_branch
        emit_merge_request_changed(db, actor.user_id, written, "updated", {"target_branch": change})
        turned.append(each.id)
    return turned
