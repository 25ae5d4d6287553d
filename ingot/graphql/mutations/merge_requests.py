"""Mutations of merge requests."""

from typing import Any

from ingot.collaboration.merge_requests.policy import may_request_changes
from ingot.collaboration.merge_requests.queries import find_merge_request
from ingot.collaboration.merge_requests.review_states import withdraw_change_request
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Denied, Invalid
from ingot.graphql.context import QueryContext, RefusedCall
from ingot.graphql.global_ids import number_of
from ingot.graphql.locators import label_titles
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
_ROUTE = "/projects/:id/merge_requests/:merge_request_iid"
_DRAFT_PREFIX = "Draft: "
_ALREADY_SCHEDULED = "The merge request is already scheduled to be merged"
_NOT_MERGEABLE = "This branch cannot be merged"
_SHA_MISMATCH = "The merge-head is not at the anticipated SHA"
_MERGE_FAILED = "The merge failed"


def _path(sent: Input) -> dict[str, Any]:
    return {"id": sent["projectPath"], "merge_request_iid": sent["iid"]}


def _find(context: QueryContext, sent: Input) -> Any:
    return context.call(f"GET {_ROUTE}", **_path(sent))


def _edit(context: QueryContext, sent: Input, params: dict[str, Any]) -> dict[str, Any]:
    return {"merge_request": context.call(f"PUT {_ROUTE}", params, **_path(sent))}


@resolvers.mutation("mergeRequestCreate")
def create_merge_request(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a merge request."""
    params = renamed(
        sent,
        source_branch="sourceBranch",
        target_branch="targetBranch",
        title="title",
        description="description",
        labels="labels",
    )
    return {"merge_request": context.call("POST /projects/:id/merge_requests", params, id=sent["projectPath"])}


@resolvers.mutation("mergeRequestUpdate")
def update_merge_request(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a merge request."""
    require_duration(sent)
    params = renamed(sent, title="title", description="description", target_branch="targetBranch")
    if sent.get("state"):
        params["state_event"] = "close" if sent["state"] == "CLOSED" else "reopen"
    if params:
        context.call(f"PUT {_ROUTE}", params, **_path(sent))
    if sent.get("timeEstimate") is not None:
        context.call(f"POST {_ROUTE}/time_estimate", {"duration": sent["timeEstimate"]}, **_path(sent))
    return {"merge_request": _find(context, sent)}


@resolvers.mutation("mergeRequestAccept")
def accept_merge_request(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Merge a merge request, or schedule the merge; a refusal is one of GitLab's messages."""
    subject = _find(context, sent)
    if not context.allows(f"PUT {_ROUTE}/merge", **_path(sent)):
        raise Denied
    if subject.merge_when_pipeline_succeeds:
        return {"merge_request": subject, "errors": [_ALREADY_SCHEDULED]}
    params = renamed(
        sent,
        sha="sha",
        merge_commit_message="commitMessage",
        squash="squash",
        squash_commit_message="squashCommitMessage",
        should_remove_source_branch="shouldRemoveSourceBranch",
    )
    if sent.get("strategy"):  # The project decides whether automatic merges take a merge train.
        params["auto_merge"] = True
    try:
        return {"merge_request": context.call(f"PUT {_ROUTE}/merge", params, **_path(sent))}
    except RefusedCall:
        return {"merge_request": subject, "errors": [_NOT_MERGEABLE]}
    except Conflict:
        return {"merge_request": subject, "errors": [_SHA_MISMATCH if sent["sha"] != subject.sha else _MERGE_FAILED]}


@resolvers.mutation("mergeRequestSetAssignees")
def set_assignees(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Set, add or remove the assignees."""
    current = [user.id for user in _find(context, sent).assignees]
    changed = user_numbers(context, sent["assigneeUsernames"])
    return _edit(context, sent, {"assignee_ids": combined(sent.get("operationMode"), current, changed)})


@resolvers.mutation("mergeRequestSetReviewers")
def set_reviewers(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Set, add or remove the reviewers."""
    current = [user.id for user in _find(context, sent).reviewers]
    changed = user_numbers(context, sent["reviewerUsernames"])
    return _edit(context, sent, {"reviewer_ids": combined(sent.get("operationMode"), current, changed)})


@resolvers.mutation("mergeRequestReviewerRereview")
def request_review_again(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Ask a reviewer for another review."""
    user_id = number_of(sent["userId"], "User")
    if user_id not in [user.id for user in _find(context, sent).reviewers]:
        raise Invalid("Reviewer not found")
    context.call(f"POST {_ROUTE}/reviewers/:user_id/request_review", **_path(sent), user_id=user_id)
    return {"merge_request": _find(context, sent)}


@resolvers.mutation("mergeRequestSetLabels")
def set_labels(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Set, add or remove labels."""
    titles = label_titles(context, [row_number(each) for each in sent["labelIds"]])
    name = {"APPEND": "add_labels", "REMOVE": "remove_labels"}.get(sent.get("operationMode") or "", "labels")
    return _edit(context, sent, {name: titles})


@resolvers.mutation("mergeRequestSetDraft")
def set_draft(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Mark a merge request as a draft or as ready."""
    subject = _find(context, sent)
    if subject.draft is sent["draft"]:
        return {"merge_request": subject}
    title = subject.title
    if sent["draft"]:
        return _edit(context, sent, {"title": f"{_DRAFT_PREFIX}{title}"})
    prefixes = ("draft: ", "draft:", "[draft]", "(draft)", "wip: ", "wip:", "[wip]")
    prefix = next((each for each in prefixes if title.lower().startswith(each)), "")
    return _edit(context, sent, {"title": title[len(prefix) :].strip()})


@resolvers.mutation("mergeRequestSetLocked")
def set_locked(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Lock or unlock the discussion."""
    return _edit(context, sent, {"discussion_locked": sent["locked"]})


@resolvers.mutation("mergeRequestSetMilestone")
def set_milestone(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Set or remove the milestone."""
    return _edit(context, sent, optional_number({"milestoneId": None} | sent, "milestoneId"))


@resolvers.mutation("mergeRequestSetSubscription")
def set_subscription(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Subscribe or unsubscribe; nothing changes if the caller already did."""
    subject = _find(context, sent)
    if subject.subscribed is not sent["subscribedState"]:
        action = "subscribe" if sent["subscribedState"] else "unsubscribe"
        subject = context.call(f"POST {_ROUTE}/{action}", **_path(sent))
    return {"merge_request": subject}


@resolvers.mutation("mergeRequestApprove")
def approve_merge_request(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Approve a merge request."""
    context.call(f"POST {_ROUTE}/approve", renamed(sent, sha="sha"), **_path(sent))
    return {"merge_request": _find(context, sent)}


@resolvers.mutation("mergeRequestUnapprove")
def unapprove_merge_request(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Withdraw an approval."""
    context.call(f"POST {_ROUTE}/unapprove", **_path(sent))
    return {"merge_request": _find(context, sent)}


@resolvers.mutation("mergeRequestRequestChanges")
def request_changes(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Request changes, which blocks the merge until the caller approves."""
    context.call(f"POST {_ROUTE}/notes", {"body": "/request_changes"}, **_path(sent))
    subject, reviewers = _find(context, sent), context.call(f"GET {_ROUTE}/reviewers", **_path(sent))
    states = {reviewer.user.id: reviewer.state for reviewer in reviewers}
    if states.get(context.actor.user_id) != "requested_changes":
        raise Denied
    return {"merge_request": subject}


@resolvers.mutation("mergeRequestDestroyRequestedChanges")
def withdraw_requested_changes(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Withdraw the caller's request for changes."""

    def withdraw(db: Connection) -> None:
        lookup = find_merge_request(db, context.actor, sent["projectPath"], sent["iid"])
        require(may_request_changes(context.actor, lookup.access, lookup))
        withdraw_change_request(db, context.actor, lookup)

    context.database.write(withdraw)
    return {"merge_request": _find(context, sent)}


@resolvers.mutation("mergeRequestRebase")
def rebase_merge_request(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Rebase the source branch."""
    context.call(f"PUT {_ROUTE}/rebase", **_path(sent))
    return {"merge_request": _find(context, sent)}


@resolvers.mutation("mergeRequestDelete")
def delete_merge_request(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a merge request."""
    subject = _find(context, sent)
    context.call(f"DELETE {_ROUTE}", **_path(sent))
    return {"merge_request": subject}
