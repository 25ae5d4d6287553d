"""Merge box: whether a merge request can be merged, the reasons if not, and the available actions."""

from contextlib import suppress
from typing import Any

import msgspec

from ingot.ci.artifacts.exposure import ExposedArtifact, exposed_artifacts
from ingot.ci.pipelines.summaries import PipelineSummary, pipeline_summaries
from ingot.collaboration.merge_requests.approval_rules.state import lacks_approvals
from ingot.collaboration.merge_requests.merge import api as merge_api
from ingot.collaboration.merge_requests.merge import train_api
from ingot.collaboration.merge_requests.merge.train_queries import branches_with_trains, car_or_none, train_position
from ingot.collaboration.merge_requests.merge.views import merge_rules, proposed_messages
from ingot.collaboration.merge_requests.merge_checks import ACTIVE_STATUSES
from ingot.collaboration.merge_requests.mergeability import MERGEABLE, Mergeability
from ingot.collaboration.merge_requests.mergeability_check import check_mergeability_at
from ingot.collaboration.merge_requests.source_branch import may_push_to_source
from ingot.core.db.connection import Connection
from ingot.pipelines.views import PipelineView
from ingot.repositories import browser
from ingot.repositories.branches import api as branches_api
from ingot.repositories.commit_statuses import api as statuses_api
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.web.form_errors import REQUEST_ERRORS
from ingot.web.merge_requests.context import MergeRequestContext

_DETACHED = "The pipeline tests the source branch only, because it could not be merged when the pipeline started."
_IN_SOURCE_PROJECT = "The pipeline tests the source branch only, because it runs in the source project."
_PASSING_STATUSES = ("success", "skipped")


class TrainState(msgspec.Struct, frozen=True):
    """Place of a merge request in a merge train."""

    position: int
    length: int
    pipeline: PipelineView | None
    """The pipeline that tests it with those before it, if there is one and the viewer may see it."""


class MergeBox(msgspec.Struct, frozen=True):
    """Content of the merge box below the description."""

    reasons: list[str]
    """Reasons that prevent the merge."""
    hints: list[str]
    """Additional information."""
    conflicts: bool
    may_merge: bool
    """True if the merge button is shown."""
    may_schedule: bool
    """True if the merge can be scheduled for when the pipeline and all checks succeed."""
    merges_when_pipeline_succeeds: bool
    may_cancel: bool
    may_rebase: bool
    is_unchecked: bool
    """True while conflicts are being checked; a script then polls the box."""
    pipeline: Any
    summary: PipelineSummary | None = None
    """Stages and jobs of the pipeline, if the viewer may see them."""
    exposed: list[ExposedArtifact] = []
    """Artifacts of the pipeline that its configuration exposes."""
    message: str = ""
    squash_message: str = ""
    may_remove_source: bool = False
    """True if the viewer may delete the source branch, which has not changed since the merge."""
    may_resolve: bool = False
    """True if the viewer may commit a merge to the source branch, to resolve conflicts."""
    train: TrainState | None = None
    """The place in a merge train."""
    waits_for_checks: bool = False
    """True if some of the reasons are checks that users can make pass, for which an automatic merge waits."""
    takes_train: bool = False
    """True if an automatic merge takes a merge train, and another one passes it."""
    may_leave_train: bool = False
    """True if the merge request is in a merge train and may be merged at once."""
    may_skip_train: bool = False
    """True if there is a merge train, and an immediate merge may leave its pipelines running."""
    may_see_trains: bool = False
    commit: str = ""
    """Commit to revert or cherry-pick, if a single commit contains the whole merge."""


def merge_box(merge_request: MergeRequestContext) -> MergeBox:
    """Return the merge box of a merge request."""
    box = _box(merge_request)
    summary = _pipeline_summary(merge_request) if box.pipeline else None
    if summary is None:
        return box
    actor, pipeline = merge_request.visit.viewer.actor, summary.pipeline
    exposed = merge_request.visit.database.read(lambda db: exposed_artifacts(db, actor, pipeline))
    expects_result = merge_request.lookup.project.options.merge_pipelines_enabled
    if expects_result and pipeline.merge_request_event_type == "detached":
        is_outside = pipeline.project_id != merge_request.lookup.project.id
        box = msgspec.structs.replace(box, hints=[*box.hints, _IN_SOURCE_PROJECT if is_outside else _DETACHED])
    return msgspec.structs.replace(box, summary=summary, exposed=exposed)


def _pipeline_summary(merge_request: MergeRequestContext) -> PipelineSummary | None:
    visit, pipeline = merge_request.visit, merge_request.view.head_pipeline
    if pipeline is None or not visit.may(statuses_api.get_pipeline, id=pipeline.project_id, pipeline_id=pipeline.id):
        return None
    base = visit.request.origin.base
    return visit.database.read(lambda db: pipeline_summaries(db, [pipeline.id], base)).get(pipeline.id)


def _box(merge_request: MergeRequestContext) -> MergeBox:
    view = merge_request.view
    if view.state != "opened":
        finished_box = MergeBox([], [], False, False, False, False, False, False, False, view.head_pipeline)
        return _after_merge(merge_request, finished_box) if view.state == "merged" else finished_box
    record, tip = merge_request.lookup.merge_request, merge_request.target_tip
    mergeability = merge_request.visit.database.read(
        lambda db: check_mergeability_at(db, merge_request.repository, record, tip)
    )
    unchecked = mergeability is None
    allowed = view.user is not msgspec.UNSET and view.user.can_merge
    rules = _rule_reasons(merge_request)
    reasons = [*_branch_reasons(merge_request, mergeability), *rules]
    pipeline_active = view.head_pipeline is not None and view.head_pipeline.status in ACTIVE_STATUSES
    awaited = [reason for reason in rules if reason not in (_RUNNING, _FAILED)]
    others = [reason for reason in reasons if reason != _RUNNING and reason not in awaited]
    is_scheduled = view.merge_when_pipeline_succeeds
    takes_train = merge_request.lookup.project.options.has_merge_trains
    rebase, hints = _REBASE.format(view.target_branch), _hints(merge_request, unchecked)
    must_rebase = rebase in reasons
    if takes_train and must_rebase:
        reasons, others = ([each for each in some if each != rebase] for some in (reasons, others))
        hints = [*hints, _REBASED_BY_TRAIN]
    train = _train_state(merge_request) if is_scheduled and takes_train else None
    is_mergeable = allowed and not reasons and not must_rebase and not unchecked
    box = MergeBox(
        reasons=reasons if allowed or is_scheduled else [*reasons, _permission_reason(merge_request)],
        hints=hints,
        conflicts=mergeability == "conflict",
        may_resolve=mergeability == "conflict" and _may_push(merge_request),
        may_merge=is_mergeable and not is_scheduled,
        may_schedule=allowed
        and bool(pipeline_active or takes_train or awaited)
        and not others
        and not unchecked
        and not is_scheduled,
        waits_for_checks=bool(awaited),
        takes_train=takes_train,
        train=train,
        may_leave_train=is_mergeable and train is not None,
        may_see_trains=takes_train and merge_request.parent.may(train_api.list_merge_trains),
        merges_when_pipeline_succeeds=is_scheduled,
        may_cancel=is_scheduled and merge_request.discussable.may(merge_api.cancel_merge),
        # A rebase would take the merge request off its train, which rebases where that is required.
        may_rebase=mergeability == "apart"
        and not (takes_train and is_scheduled)
        and _may_push(merge_request, forced=True),
        is_unchecked=unchecked,
        pipeline=view.head_pipeline,
    )
    if box.may_merge and takes_train:
        box = msgspec.structs.replace(box, may_skip_train=_may_skip_train(merge_request))
    if not (box.may_merge or box.may_schedule):
        return box
    if merge_request.layer_below is not None:
        box = msgspec.structs.replace(box, hints=[*box.hints, _INTO_LAYER])
    return _with_messages(merge_request, box)


_REBASE = "The source branch must be rebased onto {}: fast-forward is not possible."
_REBASED_BY_TRAIN = "The merge train rebases the commits before it tests and merges them."
_INTO_LAYER = "Merging adds the changes to the layer below, not yet to the base of the stack."
_RUNNING = "The pipeline is still running and must succeed before merging."
_TITLE = "The title does not have the form that the project requires."
_FAILED = "The pipeline must succeed before merging."


def _branch_reasons(merge_request: MergeRequestContext, mergeability: Mergeability | None) -> list[str]:
    target, reasons = merge_request.view.target_branch, []
    if _is_source_gone(merge_request, mergeability):
        branch = merge_request.source.branch
        reasons = [f"The source branch {branch} does not exist. Push it again to continue."]
    if merge_request.target_tip is None:
        reasons.append(f"The target branch {target} does not exist. Choose another one.")
    if reasons:
        return reasons
    if mergeability == "nothing":
        return [f"Nothing to merge: {target} already contains these commits."]
    if mergeability == "conflict":
        return [f"Merge conflicts with {target} must be resolved."]
    if mergeability == "apart" and merge_request.lookup.project.merge_method != "merge":
        return [_REBASE.format(target)]
    return []


def _is_source_gone(merge_request: MergeRequestContext, mergeability: Mergeability | None) -> bool:
    """Return whether the source branch is deleted.

    If the fork is not visible, this is inferred from a merge status that the commits do not explain.
    """
    return not merge_request.source.branch_exists or (
        mergeability in MERGEABLE and merge_request.view.merge_status == "cannot_be_merged"
    )


def _train_state(merge_request: MergeRequestContext) -> TrainState | None:
    """Return the place in the merge train; None outside of trains."""
    visit, lookup = merge_request.visit, merge_request.lookup

    def read(db: Connection) -> tuple[int, int, int | None] | None:
        car = car_or_none(db, lookup.merge_request.id)
        return None if car is None or car.has_ended else (*train_position(db, car), car.pipeline_id)

    place = visit.database.read(read)
    if place is None:
        return None
    position, length, pipeline_id = place
    pipeline = None
    if pipeline_id is not None:
        with suppress(*REQUEST_ERRORS):
            pipeline = visit.ask(statuses_api.get_pipeline, id=lookup.project.id, pipeline_id=pipeline_id)
    return TrainState(position, length, pipeline)


def _may_skip_train(merge_request: MergeRequestContext) -> bool:
    """Return whether an immediate merge may leave the pipelines of a merge train running."""
    project, branch = merge_request.lookup.project, merge_request.view.target_branch
    if not project.options.may_skip_merge_trains or project.merge_method != "merge":
        return False
    return bool(merge_request.visit.database.read(lambda db: branches_with_trains(db, project.id, [branch])))


def _rule_reasons(merge_request: MergeRequestContext) -> list[str]:
    view, project = merge_request.view, merge_request.lookup.project
    reasons = []
    if view.draft:
        reasons.append("The merge request is a draft. Mark it as ready.")
    if view.detailed_merge_status == "title_regex":
        expected = project.options.merge_request_title_regex_description
        reasons.append(_TITLE)
        reasons.extend([expected] if expected else [])
    required = merge_request.visit.database.read(lambda db: merge_rules(db, project))
    if required.only_allow_merge_if_all_discussions_are_resolved and not view.blocking_discussions_resolved:
        reasons.append("All discussions must be resolved.")
    merge_request_row = merge_request.lookup.merge_request
    if merge_request.visit.database.read(lambda db: lacks_approvals(db, merge_request_row, project.options)):
        reasons.append("Required approvals are missing.")
    if merge_request.change_requests:
        names = ", ".join(f"@{name}" for name in merge_request.change_requests)
        reasons.append(f"Changes were requested by {names}.")
    pipeline = view.head_pipeline
    if (
        required.only_allow_merge_if_pipeline_succeeds
        and pipeline is not None
        and pipeline.status not in _PASSING_STATUSES
    ):
        reasons.append(_RUNNING if pipeline.status in ACTIVE_STATUSES else _FAILED)
    elif pipeline is None and view.detailed_merge_status in ("ci_must_pass", "ci_still_running"):
        reasons.append(_FAILED if view.detailed_merge_status == "ci_must_pass" else _RUNNING)
    return reasons


def _permission_reason(merge_request: MergeRequestContext) -> str:
    if merge_request.lookup.project.archived:
        return "The project is archived and read-only."
    if merge_request.visit.viewer.user is None:
        return "Sign in to merge."
    return f"You do not have permission to merge into {merge_request.view.target_branch}."


def _hints(merge_request: MergeRequestContext, unchecked: bool) -> list[str]:
    hints = []
    if unchecked:
        hints.append("Checking whether it can be merged.")
    if merge_request.source.project is None:
        hints.append("The source project is not visible to you or was deleted.")
    if merge_request.view.merge_error:
        hints.append(merge_request.view.merge_error)
    return hints


def _may_push(merge_request: MergeRequestContext, *, forced: bool = False) -> bool:
    source, actor, record = merge_request.source, merge_request.visit.viewer.actor, merge_request.lookup.merge_request
    if merge_request.visit.viewer.user is None or source.project is None or not source.branch_exists:
        return False
    return merge_request.visit.database.read(lambda db: may_push_to_source(db, actor, record, forced=forced))


def _after_merge(merge_request: MergeRequestContext, box: MergeBox) -> MergeBox:
    """Add the actions that are available after a merge."""
    source, hints = merge_request.source, []
    if source.project is not None and not source.branch_exists:
        hints.append(f"The source branch {source.branch} was deleted.")
    return msgspec.structs.replace(
        box,
        hints=hints,
        may_remove_source=may_delete_source_branch(merge_request),
        commit=_whole_merge_commit(merge_request) if merge_request.parent.may(commit_writing_api.create_commit) else "",
    )


def may_delete_source_branch(merge_request: MergeRequestContext) -> bool:
    """Return whether the viewer may delete the merged branch, and it has no further commits."""
    source = merge_request.source
    if merge_request.visit.viewer.user is None or source.project is None or not source.branch_exists:
        return False
    if (
        source.branch == source.project.default_branch
        or merge_request.source_tip() != merge_request.lookup.merge_request.head_oid
    ):
        return False
    path = {"id": source.project.id, "branch": source.branch}
    if not merge_request.visit.may(branches_api.delete_branch, **path):
        return False
    return not merge_request.visit.ask(branches_api.get_branch, **path).protected


def _whole_merge_commit(merge_request: MergeRequestContext) -> str:
    """Return the commit that contains the whole merge: a merge commit, a squash commit or the only commit; else ""."""
    sha = merge_request.view.merge_commit_sha or merge_request.view.squash_commit_sha
    parents = browser.parents_or_none(merge_request.repository, sha) if sha else None
    if sha is None or parents is None:
        return ""
    single_commit = merge_request.version is not None and merge_request.version.commits_count == 1
    return sha if len(parents) > 1 or merge_request.view.squash_commit_sha or single_commit else ""


def _with_messages(merge_request: MergeRequestContext, box: MergeBox) -> MergeBox:
    project, record = merge_request.lookup.project, merge_request.lookup.merge_request
    actor = merge_request.visit.viewer.actor
    messages = merge_request.visit.database.read(
        lambda db: proposed_messages(db, actor, project, record, merge_request.repository, merge_request.target_tip)
    )
    return msgspec.structs.replace(box, message=messages.merge, squash_message=messages.squash)
