"""Merge box: whether a merge request can be merged, the reasons if not, and the available actions."""

from typing import Any

import msgspec

from ingot.collaboration.merge_requests.merge import api as merging_api
from ingot.collaboration.merge_requests.merge.commit_messages import squash_message
from ingot.collaboration.merge_requests.merge.views import proposed_merge_message
from ingot.collaboration.merge_requests.merge_checks import ACTIVE_STATUSES
from ingot.collaboration.merge_requests.mergeability import MERGEABLE, Mergeability
from ingot.collaboration.merge_requests.mergeability_check import check_mergeability
from ingot.repositories import browser
from ingot.repositories.branches import api as branches_api
from ingot.repositories.commit_writing import api as making_api
from ingot.web.merge_requests.context import MergeRequestFrame

_PASSING_STATUSES = ("success", "skipped")
# Seconds between polls of the box, since pushes, conflicts and merges by other users change it.
_POLL_SOON_SECONDS, _POLL_SECONDS = 5, 15


class MergeBox(msgspec.Struct, frozen=True):
    """Content of the merge box below the description."""

    reasons: list[str]
    """Reasons that prevent the merge."""
    hints: list[str]
    """Additional information."""
    conflicts: bool
    may_merge: bool
    """True if the merge button is shown."""
    later: bool
    """True if the merge can be scheduled for when the pipeline succeeds."""
    merges_when_pipeline_succeeds: bool
    may_cancel: bool
    may_rebase: bool
    pause: int
    """Seconds until the box is polled again; 0 for never."""
    pipeline: Any
    message: str = ""
    squash_message: str = ""
    may_remove_source: bool = False
    """True if the viewer may delete the source branch, which has not changed since the merge."""
    commit: str = ""
    """Commit to revert or cherry-pick, if a single commit contains the whole merge."""


def merge_box(frame: MergeRequestFrame) -> MergeBox:
    """Return the merge box of a merge request."""
    request = frame.request
    if request.state != "opened":
        over = MergeBox([], [], False, False, False, False, False, False, 0, request.head_pipeline)
        return _after_merge(frame, over) if request.state == "merged" else over
    verdict = frame.visit.database.read(lambda db: check_mergeability(db, frame.repository, frame.found.merge_request))
    unchecked = verdict is None
    allowed = request.user is not msgspec.UNSET and request.user.can_merge
    reasons = [*_branch_reasons(frame, verdict), *_rule_reasons(frame)]
    under_way = request.head_pipeline is not None and request.head_pipeline.status in ACTIVE_STATUSES
    running = request.detailed_merge_status == "ci_still_running"
    others = [reason for reason in reasons if reason != _RUNNING]
    waits = request.merge_when_pipeline_succeeds
    box = MergeBox(
        reasons=reasons if allowed else [*reasons, _permission_reason(frame)],
        hints=_hints(frame, unchecked),
        conflicts=verdict == "conflict",
        may_merge=allowed and not reasons and not unchecked and not waits,
        later=allowed and under_way and not others and not unchecked and not waits,
        merges_when_pipeline_succeeds=waits,
        may_cancel=waits and frame.discussable.may(merging_api.cancel_merge),
        may_rebase=verdict == "apart" and _may_push(frame),
        pause=_POLL_SOON_SECONDS
        if unchecked or under_way or running or waits
        else _POLL_SECONDS
        if frame.visit.viewer.user
        else 0,
        pipeline=request.head_pipeline,
    )
    return _with_messages(frame, box) if box.may_merge or box.later else box


_RUNNING = "The pipeline is still running and must succeed before merging."
_FAILED = "The pipeline must succeed before merging."


def _branch_reasons(frame: MergeRequestFrame, verdict: Mergeability | None) -> list[str]:
    target, gone = frame.request.target_branch, []
    if _is_source_gone(frame, verdict):
        branch = frame.source.branch
        gone = [f"The source branch {branch} does not exist. Push it again to continue."]
    if not frame.has_target:
        gone.append(f"The target branch {target} does not exist. Choose another one.")
    if gone:
        return gone
    if verdict == "nothing":
        return [f"Nothing to merge: {target} already contains these commits."]
    if verdict == "conflict":
        return [f"Merge conflicts with {target} must be resolved."]
    if verdict == "apart" and frame.found.project.merge_method != "merge":
        return [f"The source branch must be rebased onto {target}: fast-forward is not possible."]
    return []


def _is_source_gone(frame: MergeRequestFrame, verdict: Mergeability | None) -> bool:
    """Return whether the source branch is deleted.

    If the fork is not visible, this is inferred from a merge status that the commits do not explain.
    """
    return not frame.source.branch_exists or (verdict in MERGEABLE and frame.request.merge_status == "cannot_be_merged")


def _rule_reasons(frame: MergeRequestFrame) -> list[str]:
    request, project = frame.request, frame.found.project
    reasons = []
    if request.draft:
        reasons.append("The merge request is a draft. Mark it as ready.")
    if project.only_allow_merge_if_all_discussions_are_resolved and not request.blocking_discussions_resolved:
        reasons.append("All discussions must be resolved.")
    pipeline = request.head_pipeline
    if (
        project.only_allow_merge_if_pipeline_succeeds
        and pipeline is not None
        and pipeline.status not in _PASSING_STATUSES
    ):
        reasons.append(_RUNNING if pipeline.status in ACTIVE_STATUSES else _FAILED)
    elif pipeline is None and request.detailed_merge_status in ("ci_must_pass", "ci_still_running"):
        reasons.append(_FAILED if request.detailed_merge_status == "ci_must_pass" else _RUNNING)
    return reasons


def _permission_reason(frame: MergeRequestFrame) -> str:
    if frame.found.project.archived:
        return "The project is archived and read-only."
    if frame.visit.viewer.user is None:
        return "Sign in to merge."
    return f"You do not have permission to merge into {frame.request.target_branch}."


def _hints(frame: MergeRequestFrame, unchecked: bool) -> list[str]:
    hints = []
    if unchecked:
        hints.append("Checking whether it can be merged.")
    if frame.source.project is None:
        hints.append("The source project is not visible to you or was deleted.")
    if frame.request.merge_error:
        hints.append(frame.request.merge_error)
    return hints


def _may_push(frame: MergeRequestFrame) -> bool:
    source = frame.source
    if source.project is None or not source.branch_exists:
        return False
    return frame.visit.may(making_api.create_commit, id=source.project.id)


def _after_merge(frame: MergeRequestFrame, box: MergeBox) -> MergeBox:
    """Add the actions that are available after a merge."""
    source, hints = frame.source, []
    if source.project is not None and not source.branch_exists:
        hints.append(f"The source branch {source.branch} was deleted.")
    return msgspec.structs.replace(
        box,
        hints=hints,
        may_remove_source=may_delete_source_branch(frame),
        commit=_is_full_merge(frame) if frame.parent.may(making_api.create_commit) else "",
    )


def may_delete_source_branch(frame: MergeRequestFrame) -> bool:
    """Return whether the viewer may delete the merged branch, and it has no further commits."""
    source = frame.source
    if frame.visit.viewer.user is None or source.project is None or not source.branch_exists:
        return False
    if source.branch == source.project.default_branch or frame.source_tip() != frame.found.merge_request.head_oid:
        return False
    named = {"id": source.project.id, "branch": source.branch}
    if not frame.visit.may(branches_api.delete_branch, **named):
        return False
    return not frame.visit.ask(branches_api.get_branch, **named).protected


def _is_full_merge(frame: MergeRequestFrame) -> str:
    """Return the commit that contains the whole merge: a merge commit, a squash commit or the only commit; else ""."""
    sha = frame.request.merge_commit_sha or frame.request.squash_commit_sha
    parents = browser.parents_or_none(frame.repository, sha) if sha else None
    if sha is None or parents is None:
        return ""
    alone = frame.version is not None and frame.version.commits_count == 1
    return sha if len(parents) > 1 or frame.request.squash_commit_sha or alone else ""


def _with_messages(frame: MergeRequestFrame, box: MergeBox) -> MergeBox:
    project, merge_request = frame.found.project, frame.found.merge_request
    message = frame.visit.database.read(lambda db: proposed_merge_message(db, project, merge_request))
    return msgspec.structs.replace(box, message=message, squash_message=squash_message(merge_request))
