"""Parameters of REST endpoints from the arguments of GraphQL fields."""

from typing import Any

from ingot.core.errors import Invalid
from ingot.graphql.resolvers import Arguments

_ORDERS = {
    "CREATED": "created_at",
    "UPDATED": "updated_at",
    "TITLE": "title",
    "DUE_DATE": "due_date",
    "MERGED_AT": "merged_at",
    "PRIORITY": "priority",
    "LABEL_PRIORITY": "label_priority",
    "MILESTONE_DUE": "milestone_due",
    "POPULARITY": "popularity",
    "RELATIVE_POSITION": "relative_position",
    "NAME": "name",
    "PATH": "path",
    "ID": "id",
    "STARS": "star_count",
    "ACTIVITY": "last_activity_at",
    "LATEST_ACTIVITY": "last_activity_at",
    "RELEASED_AT": "released_at",
}


def order(sort: str | None, default: str) -> dict[str, str]:
    """Return ``order_by`` and ``sort`` for a value such as ``CREATED_DESC``; nothing for none."""
    if sort is None:
        return {}
    column, _, direction = sort.upper().rpartition("_")
    if direction not in ("ASC", "DESC"):
        column, direction = sort.upper(), "DESC"
    if column not in _ORDERS and column != "SIMILARITY":
        raise Invalid(f'The order "{sort}" is not supported')
    return {"order_by": _ORDERS.get(column, default), "sort": direction.lower()}


def given(arguments: Arguments, **names: str) -> dict[str, Any]:
    """Return the parameters whose arguments are given; ``names`` maps parameters to arguments."""
    return {name: arguments[argument] for name, argument in names.items() if arguments.get(argument) is not None}


def _issuable_filters(arguments: Arguments) -> dict[str, Any]:
    params = given(
        arguments,
        author_username="authorUsername",
        created_after="createdAfter",
        created_before="createdBefore",
        iids="iids",
        labels="labelName",
        my_reaction_emoji="myReactionEmoji",
        search="search",
        state="state",
        updated_after="updatedAfter",
        updated_before="updatedBefore",
    )
    if arguments.get("assigneeUsernames"):
        params["assignee_username"] = arguments["assigneeUsernames"]
    if arguments.get("in"):
        params["in"] = ",".join(word.lower() for word in arguments["in"])
    if params.get("state") == "locked":
        params.pop("state")
    wildcard = arguments.get("milestoneWildcardId")
    title = arguments.get("milestoneTitle")
    if isinstance(title, list):
        title = title[0] if title else None
    if wildcard is not None or title is not None:
        params["milestone"] = wildcard.capitalize() if wildcard else title
    if arguments.get("assigneeWildcardId"):
        params["assignee_id"] = arguments["assigneeWildcardId"].capitalize()
    return params | order(arguments.get("sort"), "created_at")


def _excluded(arguments: Arguments) -> dict[str, Any]:
    given_not = arguments.get("not") or {}
    excluded = given(
        given_not,
        iids="iids",
        labels="labelName",
        my_reaction_emoji="myReactionEmoji",
        reviewer_username="reviewerUsername",
        source_branch="sourceBranches",
        target_branch="targetBranches",
    )
    if given_not.get("labels"):
        excluded["labels"] = given_not["labels"]
    for name, argument in (("author_username", "authorUsername"), ("milestone", "milestoneTitle")):
        value = given_not.get(argument)
        if value:
            excluded[name] = value[0] if isinstance(value, list) else value
    if given_not.get("assigneeUsernames"):
        excluded["assignee_username"] = given_not["assigneeUsernames"]
    if given_not.get("assigneeId"):
        excluded["assignee_id"] = given_not["assigneeId"]
    for branch in ("source_branch", "target_branch"):
        if branch in excluded:
            excluded[branch] = excluded[branch][0]
    return {"not": excluded} if excluded else {}


def issue_filters(arguments: Arguments) -> dict[str, Any]:
    """Return the parameters of a list of issues."""
    params = _issuable_filters(arguments) | given(arguments, confidential="confidential")
    if arguments.get("iid") is not None:
        params["iids"] = [arguments["iid"]]
    if arguments.get("assigneeId") is not None:
        params["assignee_id"] = str(arguments["assigneeId"]).rpartition("/")[2].capitalize()
    types = arguments.get("types")
    if types and not {"ISSUE", "TASK"} <= {*types}:  # Others do not exist.
        params["issue_type"] = next((each for each in types if each in ("ISSUE", "TASK")), types[0]).lower()
    return params | _excluded(arguments)


def merge_request_filters(arguments: Arguments) -> dict[str, Any]:
    """Return the parameters of a list of merge requests."""
    params = _issuable_filters(arguments) | given(
        arguments, draft="draft", reviewer_username="reviewerUsername", merge_user_username="mergedBy"
    )
    if arguments.get("labels"):
        params["labels"] = arguments["labels"]
    if arguments.get("assigneeUsername"):
        params["assignee_username"] = [arguments["assigneeUsername"]]
    if arguments.get("reviewerWildcardId"):
        params["reviewer_id"] = arguments["reviewerWildcardId"].capitalize()
    for name, argument in (("source_branch", "sourceBranches"), ("target_branch", "targetBranches")):
        branches = arguments.get(argument)
        if branches:
            if len(branches) > 1:
                raise Invalid(f"{argument} takes one branch")
            params[name] = branches[0]
    return params | _excluded(arguments)
