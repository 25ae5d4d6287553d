"""What merge requests tell."""

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.merge_requests.draft_titles import is_draft
from ingot.collaboration.merge_requests.mergeability import cached_mergeability
from ingot.collaboration.merge_requests.queries import assignees_and_reviewers_of
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import merge_status
from ingot.collaboration.planning.durations import format_duration
from ingot.core.db.connection import Connection
from ingot.integrations.webhooks.payloads.issues import Changes, EventContext, changes_part
from ingot.integrations.webhooks.payloads.parts import (
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
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project

MERGE_REQUEST_ACTIONS = {
    "opened": "open",
    "updated": "update",
    "closed": "close",
    "reopened": "reopen",
    "merged": "merge",
    "approved": "approved",
    "unapproved": "unapproved",
}
# Of these there is nothing to tell, or it is told in other words.
_SILENT_ACTIONS = ("head_oid", "merge_when_pipeline_succeeds")
_People = tuple[list[Payload], list[Payload]]


def has_payload(action: str, changes: Changes) -> bool:
    """Whether there is anything to tell: that something waits for its pipeline is nobody's news."""
    return action in MERGE_REQUEST_ACTIONS and (action != "updated" or set(changes) != {"merge_when_pipeline_succeeds"})


def merge_request_payload(
    db: Connection, context: EventContext, merge_request: MergeRequest, action: str, changes: Changes
) -> Payload:
    """A merge request that was opened, changed, merged or closed; with ``oldrev`` where new commits came."""
    shown = project_part(context.project, context.at)
    assigned, reviewing = people = _people(db, context, merge_request)
    part = _part(db, context, merge_request, people)
    part |= {"url": f"{project_url(context.project, context.at)}/{merge_request_page(merge_request)}"}
    part["action"] = MERGE_REQUEST_ACTIONS[action]
    if "head_oid" in changes:
        part["oldrev"] = changes["head_oid"][0]
    told = {name: change for name, change in changes.items() if name not in _SILENT_ACTIONS}
    carried = labels_of(db, "merge_request", [merge_request.id]).get(merge_request.id, [])
    payload: Payload = {
        "object_kind": "merge_request",
        "event_type": "merge_request",
        "user": user_part(context.user, context.at),
        "project": shown,
        "object_attributes": part,
        "labels": label_parts(carried),
        "changes": changes_part(db, context, told),
        "repository": repository_part(shown),
    }
    if assigned:
        payload |= {"assignee": assigned[0], "assignees": assigned}
    if reviewing:
        payload["reviewers"] = reviewing
    return payload


def merge_request_subject(db: Connection, context: EventContext, merge_request: MergeRequest) -> Payload:
    """The merge request that a note is about."""
    part = _part(db, context, merge_request, _people(db, context, merge_request))
    times = {"created_at": utc_text(merge_request.created_at), "updated_at": utc_text(merge_request.updated_at)}
    return {"merge_request": part | times}


def merge_request_page(merge_request: MergeRequest) -> str:
    """Where it is seen, below the project's page."""
    return f"merge_requests/{merge_request.iid}"


def _part(db: Connection, context: EventContext, merge_request: MergeRequest, people: _People) -> Payload:
    """What is stored of a merge request; its last commit is read from the repository later."""
    source = _visible_source(db, context, merge_request)
    assigned, reviewing = people
    part: Payload = {
        "id": merge_request.id,
        "target_branch": merge_request.target_branch,
        "source_branch": merge_request.source_branch,
        "source_project_id": merge_request.source_project_id,
        "author_id": merge_request.author_id,
        "assignee_id": assigned[0]["id"] if assigned else None,
        "assignee_ids": [person["id"] for person in assigned],
        "reviewer_ids": [person["id"] for person in reviewing],
        "title": merge_request.title,
        "created_at": iso(merge_request.created_at),
        "updated_at": iso(merge_request.updated_at),
        "st_commits": None,
        "st_diffs": None,
        "milestone_id": merge_request.milestone_id,
        "state": merge_request.state,
        "merge_status": _status(merge_request),
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
        "source": project_part(source, context.at) if source else None,
        "target": project_part(context.project, context.at),
        "last_commit": None,
        "work_in_progress": is_draft(merge_request.title),
        "draft": is_draft(merge_request.title),
    }
    if assigned:
        part["assignee"] = assigned[0]
    return part


def _people(db: Connection, context: EventContext, merge_request: MergeRequest) -> _People:
    """Who has it to do, and who is to look at it."""
    roles = [each.get(merge_request.id, []) for each in assignees_and_reviewers_of(db, [merge_request.id])]
    users = users_by_ids(db, [number for role in roles for number in role])
    found = ([user_part(users[number], context.at) for number in role if number in users] for role in roles)
    assigned, reviewing = ([part for part in parts if part is not None] for parts in found)
    return assigned, reviewing


def _status(merge_request: MergeRequest) -> str:
    """Whether it can be merged, as far as it was found out for this head."""
    verdict = cached_mergeability(merge_request, merge_request.verdict_target_oid)
    return merge_status(merge_request, verdict)


def _visible_source(db: Connection, context: EventContext, merge_request: MergeRequest) -> Project | None:
    """The project that it comes from; who receives this may know of no fork that is hidden."""
    if merge_request.source_project_id == context.project.id:
        return context.project
    source = project_or_none(db, merge_request.source_project_id or 0)
    return None if source is None or source.visibility == "private" else source
