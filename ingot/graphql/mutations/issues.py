"""Mutations of issues."""

from typing import Any

from ingot.core.errors import Invalid
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of
from ingot.graphql.locators import label_titles, merge_request_path
from ingot.graphql.mutations.inputs import (
    Input,
    combined,
    optional_number,
    renamed,
    require_duration,
    row_number,
    user_numbers,
)
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()
_ROUTE = "/projects/:id/issues/:issue_iid"


def _path(sent: Input) -> dict[str, Any]:
    return {"id": sent["projectPath"], "issue_iid": sent["iid"]}


def _edit(context: QueryContext, sent: Input, params: dict[str, Any]) -> dict[str, Any]:
    return {"issue": context.call(f"PUT {_ROUTE}", params, **_path(sent))}


@resolvers.mutation("createIssue")
def create_issue(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create an issue."""
    if sent.get("type") not in (None, "ISSUE", "TASK"):
        raise Invalid("Only issues and tasks are supported")
    params = renamed(
        sent,
        title="title",
        description="description",
        confidential="confidential",
        created_at="createdAt",
        discussion_to_resolve="discussionToResolve",
        due_date="dueDate",
        iid="iid",
        labels="labels",
        discussion_locked="locked",
    )
    params |= optional_number(sent, "milestoneId")
    if sent.get("type"):
        params["issue_type"] = sent["type"].lower()
    if sent.get("labelIds"):
        numbers = [row_number(each) for each in sent["labelIds"]]
        params["labels"] = [*(params.get("labels") or []), *label_titles(context, numbers)]
    if sent.get("assigneeIds") is not None:
        params["assignee_ids"] = [row_number(each) for each in sent["assigneeIds"]]
    if sent.get("mergeRequestToResolveDiscussionsOf"):
        place = merge_request_path(context, number_of(sent["mergeRequestToResolveDiscussionsOf"], "MergeRequest"))
        params["merge_request_to_resolve_discussions_of"] = place.path["merge_request_iid"]
    return {"issue": context.call("POST /projects/:id/issues", params, id=sent["projectPath"])}


@resolvers.mutation("updateIssue")
def update_issue(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit an issue."""
    require_duration(sent)
    params = renamed(
        sent,
        title="title",
        description="description",
        confidential="confidential",
        due_date="dueDate",
        discussion_locked="locked",
    )
    params |= optional_number(sent, "milestoneId")
    for name, field in (("add_labels", "addLabelIds"), ("remove_labels", "removeLabelIds"), ("labels", "labelIds")):
        if sent.get(field) is not None:
            params[name] = label_titles(context, [row_number(each) for each in sent[field]])
    if sent.get("stateEvent"):
        params["state_event"] = sent["stateEvent"].lower()
    issue = context.call(f"PUT {_ROUTE}", params, **_path(sent)) if params else None
    if sent.get("timeEstimate") is not None:
        context.call(f"POST {_ROUTE}/time_estimate", {"duration": sent["timeEstimate"]}, **_path(sent))
        issue = None
    return {"issue": issue or context.call(f"GET {_ROUTE}", **_path(sent))}


@resolvers.mutation("issueSetAssignees")
def set_assignees(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Set, add or remove the assignees of an issue."""
    issue = context.call(f"GET {_ROUTE}", **_path(sent))
    changed = user_numbers(context, sent["assigneeUsernames"])
    numbers = combined(sent.get("operationMode"), [user.id for user in issue.assignees], changed)
    return _edit(context, sent, {"assignee_ids": numbers})


@resolvers.mutation("issueSetConfidential")
def set_confidential(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Make an issue confidential or public."""
    return _edit(context, sent, {"confidential": sent["confidential"]})


@resolvers.mutation("issueSetDueDate")
def set_due_date(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Set or remove the due date of an issue."""
    due = sent.get("dueDate")
    return _edit(context, sent, {"due_date": due[:10] if isinstance(due, str) else None})


@resolvers.mutation("issueSetLocked")
def set_locked(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Lock or unlock the discussion of an issue."""
    return _edit(context, sent, {"discussion_locked": sent["locked"]})


@resolvers.mutation("issueSetSeverity")
def set_severity(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Set the severity of an incident."""
    return _edit(context, sent, {"severity": sent["severity"].lower()})


@resolvers.mutation("issueSetSubscription")
def set_subscription(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Subscribe to an issue or unsubscribe; nothing changes if the caller already did."""
    issue = context.call(f"GET {_ROUTE}", **_path(sent))
    if issue.subscribed is not sent["subscribedState"]:
        action = "subscribe" if sent["subscribedState"] else "unsubscribe"
        issue = context.call(f"POST {_ROUTE}/{action}", **_path(sent))
    return {"issue": issue}


@resolvers.mutation("issueMove")
def move_issue(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Move an issue to another project."""
    target = context.call("GET /projects/:id", id=sent["targetProjectPath"])
    return {"issue": context.call(f"POST {_ROUTE}/move", {"to_project_id": target.id}, **_path(sent))}


@resolvers.mutation("issueDelete")
def delete_issue(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete an issue."""
    issue = context.call(f"GET {_ROUTE}", **_path(sent))
    context.call(f"DELETE {_ROUTE}", **_path(sent))
    return {"issue": issue}
