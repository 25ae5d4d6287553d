"""Payloads of merge requests."""

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.merge_requests.approval_rules.state import lacks_approvals
from ingot.collaboration.merge_requests.approvals import approvers_of
from ingot.collaboration.merge_requests.draft_titles import is_draft
from ingot.collaboration.merge_requests.merge_checks import obstacle_before_git
from ingot.collaboration.merge_requests.mergeability import Mergeability, cached_mergeability
from ingot.collaboration.merge_requests.pipelines import head_pipeline
from ingot.collaboration.merge_requests.queries import (
    assignees_and_reviewers_of,
    merge_requirements,
    with_unresolved_discussions,
)
from ingot.collaboration.merge_requests.review_states import review_states
from ingot.collaboration.merge_requests.stacks.tree import stack_positions
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import detailed_merge_status, merge_status, stack_view
from ingot.collaboration.planning.durations import format_duration
from ingot.core.db.connection import Connection
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.webhooks.payloads.issues import Changes, EventContext, changes_part
from ingot.webhooks.payloads.parts import (
    Payload,
    iso,
    iso_or_none,
    label_parts,
    project_part,
    project_url,
    repository_part,
    user_part,
    utc_text,
)

MERGE_REQUEST_ACTIONS = {
    "opened": "open",
    "updated": "update",
    "closed": "close",
    "reopened": "reopen",
    "merged": "merge",
    "approved": "approved",
    "unapproved": "unapproved",
    "changes_requested": "update",
}
# Changes that the payload omits or represents by another attribute.
_SILENT_ACTIONS = ("head_oid", "merge_when_pipeline_succeeds")
_People = tuple[list[Payload], list[Payload]]


def has_payload(action: str, changes: Changes) -> bool:
    """Return whether an event has a payload; waiting for a pipeline has none, joining or leaving a merge train has."""
    return action in MERGE_REQUEST_ACTIONS and (action != "updated" or set(changes) != {"merge_when_pipeline_succeeds"})


def merge_request_payload(
    db: Connection, context: EventContext, merge_request: MergeRequest, action: str, changes: Changes
) -> Payload:
    """Return the payload of a merge request event; with ``oldrev`` if there are new commits."""
    project_data = project_part(context.project, context.urls)
    assignees, reviewers = people = _people(db, context, merge_request)
    part = _part(db, context, merge_request, people)
    part |= {"url": f"{project_url(context.project, context.urls)}/{merge_request_page(merge_request)}"}
    part["action"] = MERGE_REQUEST_ACTIONS[action]
    if "head_oid" in changes:
        part["oldrev"] = changes["head_oid"][0]
    visible_changes = {name: change for name, change in changes.items() if name not in _SILENT_ACTIONS}
    labels = labels_of(db, "merge_request", [merge_request.id]).get(merge_request.id, [])
    payload: Payload = {
        "object_kind": "merge_request",
        "event_type": "merge_request",
        "user": user_part(context.user, context.urls),
        "project": project_data,
        "object_attributes": part,
        "labels": label_parts(labels),
        "changes": changes_part(db, context, visible_changes),
        "repository": repository_part(project_data),
    }
    if assignees:
        payload |= {"assignee": assignees[0], "assignees": assignees}
    if reviewers:
        payload["reviewers"] = _with_states(db, merge_request, reviewers)
    return payload


def _with_states(db: Connection, merge_request: MergeRequest, reviewers: list[Payload]) -> list[Payload]:
    """Add the results of their reviews to the reviewers."""
    approvers, states = approvers_of(db, merge_request.id), review_states(db, [merge_request.id])

    def state(user_id: int) -> str:
        return "approved" if user_id in approvers else states.get((merge_request.id, user_id), "unreviewed")

    return [{**reviewer, "state": state(reviewer["id"])} for reviewer in reviewers]


def merge_request_subject(db: Connection, context: EventContext, merge_request: MergeRequest) -> Payload:
    """Return the part of the merge request that a note is about."""
    part = _part(db, context, merge_request, _people(db, context, merge_request))
    times = {"created_at": utc_text(merge_request.created_at), "updated_at": utc_text(merge_request.updated_at)}
    return {"merge_request": part | times}


def merge_request_page(merge_request: MergeRequest) -> str:
    """Return the path of a merge request's page relative to its project."""
    return f"merge_requests/{merge_request.iid}"


def _part(db: Connection, context: EventContext, merge_request: MergeRequest, people: _People) -> Payload:
    """Return the attributes of a merge request; ``last_commit`` is read from the repository later."""
    source = _visible_source(db, context, merge_request)
    assignees, reviewers = people
    part: Payload = {
        "id": merge_request.id,
        "target_branch": merge_request.target_branch,
        "source_branch": merge_request.source_branch,
        "source_project_id": merge_request.source_project_id,
        "author_id": merge_request.author_id,
        "assignee_id": assignees[0]["id"] if assignees else None,
        "assignee_ids": [person["id"] for person in assignees],
        "reviewer_ids": [person["id"] for person in reviewers],
        "title": merge_request.title,
        "created_at": iso(merge_request.created_at),
        "updated_at": iso(merge_request.updated_at),
        "st_commits": None,
        "st_diffs": None,
        "milestone_id": merge_request.milestone_id,
        "state": merge_request.state,
        "merge_status": merge_status(merge_request, _mergeability(merge_request)),
        "detailed_merge_status": _detailed_status(db, context.project, merge_request),
        "merge_error": merge_request.merge_error,
        "merge_commit_sha": merge_request.merge_commit_oid,
        "merge_when_pipeline_succeeds": merge_request.merge_when_pipeline_succeeds,
        "merge_user_id": merge_request.merge_user_id,
        "merged_at": iso_or_none(merge_request.merged_at),
        "target_project_id": merge_request.target_project_id,
        "iid": merge_request.iid,
        "description": merge_request.description,
        "position": 0,
        "locked_at": None,
        "time_estimate": merge_request.time_estimate,
        "total_time_spent": merge_request.total_time_spent,
        "human_time_estimate": format_duration(merge_request.time_estimate),
        "human_total_time_spent": format_duration(merge_request.total_time_spent),
        "source": project_part(source, context.urls) if source else None,
        "target": project_part(context.project, context.urls),
        "last_commit": None,
        "work_in_progress": is_draft(merge_request.title),
        "draft": is_draft(merge_request.title),
        "stack": _stack(db, merge_request),
    }
    if assignees:
        part["assignee"] = assignees[0]
    return part


def _stack(db: Connection, merge_request: MergeRequest) -> Payload | None:
    """Return the place in a stack, like the attribute of the API."""
    view = stack_view(stack_positions(db, [merge_request]).get(merge_request.id))
    return None if view is None else {"id": view.id, "position": view.position, "size": view.size, "base": view.base}


def _people(db: Connection, context: EventContext, merge_request: MergeRequest) -> _People:
    """Return the assignees and reviewers."""
    roles = [each.get(merge_request.id, []) for each in assignees_and_reviewers_of(db, [merge_request.id])]
    users = users_by_ids(db, [number for role in roles for number in role])
    parts_by_role = ([user_part(users[number], context.urls) for number in role if number in users] for role in roles)
    assignees, reviewers = ([part for part in parts if part is not None] for parts in parts_by_role)
    return assignees, reviewers


def _mergeability(merge_request: MergeRequest) -> Mergeability | None:
    """Return the mergeability as last determined for this head."""
    return cached_mergeability(merge_request, merge_request.verdict_target_oid)


def _detailed_status(db: Connection, project: Project, merge_request: MergeRequest) -> str:
    """Return the attribute of the same name of the API."""
    target, pipeline = merge_requirements(db, project), head_pipeline(db, merge_request)
    obstacle = obstacle_before_git(
        target,
        merge_request,
        pipeline.status if pipeline else None,
        unresolved=bool(with_unresolved_discussions(db, [merge_request.id])),
        unapproved=lacks_approvals(db, merge_request, project.options),
    )
    return detailed_merge_status(obstacle, target, merge_request, _mergeability(merge_request))


def _visible_source(db: Connection, context: EventContext, merge_request: MergeRequest) -> Project | None:
    """Return the source project, or None if it is private: receivers may not have access to it."""
    if merge_request.source_project_id == context.project.id:
        return context.project
    source = project_or_none(db, merge_request.source_project_id or 0)
    return None if source is None or source.visibility == "private" else source
