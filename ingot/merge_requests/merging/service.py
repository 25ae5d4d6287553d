"""What merging changes: the row of the merge request, the journal of merges under way, and the issues it closes."""

from typing import Literal, NamedTuple

from sqlalchemy import bindparam, delete, func, select

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.times import later
from ingot.errors import Failure, NotFound
from ingot.events.bus import emit
from ingot.issues import policy as issues_policy
from ingot.issues.closing import close_issue
from ingot.issues.events import Cause
from ingot.issues.queries import assignees_of
from ingot.jobs.queue import enqueue
from ingot.merge_requests.events import MergeFailed
from ingot.merge_requests.merging.queries import open_into, open_issues_to_close
from ingot.merge_requests.merging.wishes import REMOVE_LEFT_BRANCH, Wish, encode_wish
from ingot.merge_requests.queries import open_twin
from ingot.merge_requests.service import announce, hold_merge_request, write_merge_request
from ingot.merge_requests.tables import Merge, MergeRequest, merge_request_merges, merge_request_versions
from ingot.merge_requests.versions.service import add_version
from ingot.merge_requests.versions.tracking import ask_to_collect
from ingot.projects.queries import find_project, project_or_none
from ingot.users.accounts.queries import user_or_none
from ingot.users.accounts.tables import User

_FORGET = delete(merge_request_merges).where(merge_request_merges.c.merge_request_id == bindparam("merge_request"))
_FORGET_OTHERS = _FORGET.where(merge_request_merges.c.id != bindparam("kept"))
_versions = merge_request_versions.alias()
_FORGET_NEWER = delete(merge_request_versions).where(
    merge_request_versions.c.merge_request_id == bindparam("merge_request"),
    merge_request_versions.c.id
    > select(func.max(_versions.c.id))
    .where(_versions.c.merge_request_id == bindparam("merge_request"), _versions.c.head_oid == bindparam("head"))
    .scalar_subquery(),
)
_LEFT_SECONDS = 5.0
_NOT_LATER = {"merge_when_pipeline_succeeds": False, "merge_user_id": None, "merge_params": None}


class Outdated(Exception):
    """The merge request is not any more what a merge was made for; whoever made it looks again."""


class Plan(NamedTuple):
    """A merge that is made and waits for the target to move."""

    merge_request: MergeRequest
    method: str
    target_oid: str
    new_oid: str
    squash_commit_oid: str | None
    remove_source_branch: bool
    waited: bool
    """Whether it is only made because its pipeline has succeeded, which whoever wanted that may have cancelled."""


def note_merge(db: Connection, actor: Actor, plan: Plan) -> None:
    """Say what is about to happen to a merge request, before its target moves.

    It must be what the merge was made for; what others have merged meanwhile is recorded by now.
    """
    merge_request = plan.merge_request
    held = hold_merge_request(db, merge_request)
    if (held.state, held.head_oid, held.target_branch) != (
        "opened",
        merge_request.head_oid,
        merge_request.target_branch,
    ):
        raise Outdated
    if plan.waited and not held.merge_when_pipeline_succeeds:
        raise Outdated
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


def mark_merged(db: Connection, merge_request: MergeRequest, actor_id: int | None, made: Merge | None) -> None:
    """The target has what a merge request brings, by a merge that was made for it or by some push.

    What happened twice at once happened once. One that was closed while its merge was under way is merged all the
    same, since the branch has it; a mere push does not open what somebody has closed.
    """
    held = _held_or_none(db, merge_request)
    if held is None or held.state == "merged" or (made is None and held.state != "opened"):
        return
    who = actor_id if made is None else made.actor_id
    if made is not None and made.source_oid != held.head_oid:
        _go_back(db, held, made)
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
    _leave_branch(db, held, made)
    announce(db, who or held.author_id, merged, "merged", {"state": (held.state, "merged")})
    _close_issues(db, merged, who or held.author_id)


def _leave_branch(db: Connection, merge_request: MergeRequest, made: Merge | None) -> None:
    """Nothing is under way any more; but what says that the source branch is to go stays until it has gone.

    Whoever merges removes it right after this; a job does where a crash came between.
    """
    if made is None or not made.remove_source_branch:
        forget_merges(db, merge_request.id)
        return
    db.run(_FORGET_OTHERS, merge_request=merge_request.id, kept=made.id)
    soon = later(db.now, seconds=_LEFT_SECONDS)
    enqueue(db, REMOVE_LEFT_BRANCH, merge_request.id, soon, f"{REMOVE_LEFT_BRANCH} {merge_request.id}")


def forget_merges(db: Connection, merge_request_id: int) -> None:
    """Nothing is to be done any more for a merge."""
    db.run(_FORGET, merge_request=merge_request_id)


def _held_or_none(db: Connection, merge_request: MergeRequest) -> MergeRequest | None:
    """The same, held; nothing where somebody has deleted it meanwhile, which must not stop what others do."""
    try:
        return hold_merge_request(db, merge_request)
    except NotFound:
        return None


def _go_back(db: Connection, merge_request: MergeRequest, made: Merge) -> None:
    """Somebody pushed while the merge was under way: it was of what was there before, and that is what it shows."""
    db.run(_FORGET_NEWER, merge_request=merge_request.id, head=made.source_oid)
    ask_to_collect(db, merge_request.id)


def _close_issues(db: Connection, merge_request: MergeRequest, user_id: int) -> None:
    """What is merged into the default branch closes the issues that it names, as far as whoever merged it could."""
    project = project_or_none(db, merge_request.target_project_id)
    user = user_or_none(db, user_id)
    if project is None or user is None or merge_request.target_branch != project.default_branch:
        return
    actor = actor_of(user)
    sign = f"!{merge_request.iid}"
    for issue in open_issues_to_close(db, merge_request):
        try:
            here, home = find_project(db, actor, issue.project_id)
        except Failure:  # Hidden from them.
            continue
        assignees = tuple(assignees_of(db, [issue.id]).get(issue.id, ()))
        found = issues_policy.Found(here, home, issue, assignees)
        if issues_policy.may_read_found(actor, here, found):
            shown = sign if home.id == project.id else f"{project.full_path}{sign}"
            cause = Cause(f"merge request {shown}", "merge_request", project.id, merge_request.id)
            close_issue(db, actor, found, cause)


def actor_of(user: User) -> Actor:
    """A user for whom something is done while they are not there."""
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)


def merge_later(db: Connection, actor: Actor, merge_request: MergeRequest, wish: Wish) -> MergeRequest:
    """Let it be merged when the pipeline of its head succeeds; who asked first stays the one in whose name it is."""
    held = hold_merge_request(db, merge_request)
    if held.state != "opened" or held.head_oid != merge_request.head_oid:
        raise Outdated
    who = held.merge_user_id if held.merge_when_pipeline_succeeds and held.merge_user_id else actor.user_id
    columns = {"merge_when_pipeline_succeeds": True, "merge_user_id": who, "merge_params": encode_wish(wish)}
    written = write_merge_request(db, held, {**columns, "merge_error": None})
    if not held.merge_when_pipeline_succeeds:
        announce(db, actor.user_id, written, "updated", {"merge_when_pipeline_succeeds": (False, True)})
    return written


def cancel_merge(db: Connection, actor_id: int, merge_request: MergeRequest) -> None:
    """Let it not be merged by itself any more; nothing changes where it was not to be, or somebody was faster."""
    held = _held_or_none(db, merge_request)
    if held is not None and held.state == "opened" and held.merge_when_pipeline_succeeds:
        written = write_merge_request(db, held, dict(_NOT_LATER))
        announce(db, actor_id, written, "updated", {"merge_when_pipeline_succeeds": (True, False)})


def give_up(db: Connection, merge_request: MergeRequest, reason: str, *, failed: bool = False) -> None:
    """A merge that was to happen by itself does not, be it that its pipeline has ``failed``; who is concerned hears."""
    held = _held_or_none(db, merge_request)
    if held is None or not held.merge_when_pipeline_succeeds or held.state != "opened":
        return
    who = held.merge_user_id or held.author_id
    written = write_merge_request(db, held, {**_NOT_LATER, "merge_error": reason})
    announce(db, who, written, "updated", {"merge_when_pipeline_succeeds": (True, False)})
    cause: Literal["build_failed", "unmergeable"] = "build_failed" if failed else "unmergeable"
    emit(db, MergeFailed(held.id, held.target_project_id, held.merge_user_id, cause))


def note_trouble(db: Connection, merge_request: MergeRequest, reason: str | None) -> None:
    """Keep why something did not go, where people look for it."""
    held = hold_merge_request(db, merge_request)
    if held.merge_error != reason:
        write_merge_request(db, held, {"merge_error": reason})


def retarget(db: Connection, actor: Actor, merged: MergeRequest) -> list[int]:
    """Those into a branch that goes because it is merged go where that went, unless such a one is open there.

    Gives their numbers: git is still to be asked what they bring to where they go now.
    """
    turned: list[int] = []
    if merged.source_project_id != merged.target_project_id:
        return turned
    for each in open_into(db, merged.target_project_id, merged.source_branch):
        if each.source_project_id is None or (each.source_project_id, each.source_branch) == (
            merged.target_project_id,
            merged.target_branch,
        ):
            continue
        place = each.target_project_id, merged.target_branch
        if open_twin(db, each.source_project_id, each.source_branch, *place) is not None:
            continue
        written = write_merge_request(db, hold_merge_request(db, each), {"target_branch": merged.target_branch})
        add_version(db, each.id, actor.user_id, written.head_oid)
        ask_to_collect(db, each.id)
        change = each.target_branch, merged.target_branch
        announce(db, actor.user_id, written, "updated", {"target_branch": change})
        turned.append(each.id)
    return turned
