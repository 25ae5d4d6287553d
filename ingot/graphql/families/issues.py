"""Issues."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ingot.collaboration.issues.views import IssueView
from ingot.core.errors import Invalid
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_labels, load_projects, render_html, render_line_html
from ingot.graphql.locators import issue_path
from ingot.graphql.params import issue_filters
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
resolvers.types[IssueView] = "Issue"
resolvers.rename("Issue", name="title", type="issue_type")


@resolvers.single("Query.issue")
def find_issue(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return an issue by its id."""
    return issue_by_id(context, number_of(arguments["id"], "Issue", "WorkItem"))


def issue_by_id(context: QueryContext, issue_id: int) -> Any:
    """Return an issue that the caller may see."""
    place = issue_path(context, issue_id)
    return context.call(f"GET {place.route}", **place.path)


@resolvers.single("Query.issues")
def list_issues(context: QueryContext, _: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of all issues that the caller may see."""
    params = issue_filters(arguments)
    if not params:
        raise Invalid("You must provide at least one filter argument for this query")
    return listed(context, "GET /issues", arguments, {"scope": "all", **params})


@resolvers.value("Issue.id")
def issue_id(_: QueryContext, issue: Any) -> str:
    """Return the global id."""
    return to_global_id("Issue", issue.id)


@resolvers.value("Issue.webPath", "MergeRequest.webPath", "Milestone.webPath", "Commit.webPath")
def web_path(_: QueryContext, subject: Any) -> str:
    """Return the path of the page."""
    return urlsplit(str(subject.web_url)).path


@resolvers.batch("Issue.descriptionHtml", "WorkItem.descriptionHtml", "MergeRequest.descriptionHtml")
def description_html(context: QueryContext, subjects: Sequence[Any], _: Arguments) -> list[str | None]:
    """Return the descriptions as HTML."""
    return render_html(context, subjects, lambda subject: subject.description, lambda subject: subject.project_id)


@resolvers.batch("Issue.titleHtml", "WorkItem.titleHtml", "MergeRequest.titleHtml")
def title_html(context: QueryContext, subjects: Sequence[Any], _: Arguments) -> list[str | None]:
    """Return the titles as HTML, without a paragraph around them."""
    return render_line_html(context, subjects, lambda subject: subject.title, lambda subject: subject.project_id)


@resolvers.batch("Issue.labels")
def list_labels(context: QueryContext, issues: Sequence[Any], arguments: Arguments) -> list[ConnectionPage]:
    """Return the labels of issues."""
    return labels_of(context, "issue", issues, arguments)


def labels_of(context: QueryContext, kind: str, subjects: Sequence[Any], arguments: Arguments) -> list[ConnectionPage]:
    """Return the labels of issues or merge requests."""
    loaded = load_labels(context, kind, [subject.id for subject in subjects])
    return [connection_of(loaded[subject.id] or [], arguments) for subject in subjects]


@resolvers.batch("Issue.assignees")
def list_assignees(_: QueryContext, issues: Sequence[Any], arguments: Arguments) -> list[ConnectionPage]:
    """Return the assignees of issues."""
    return [connection_of(issue.assignees, arguments) for issue in issues]


@resolvers.batch("Issue.reference", "WorkItem.reference", "MergeRequest.reference")
def find_reference(_: QueryContext, subjects: Sequence[Any], arguments: Arguments) -> list[str]:
    """Return the text that refers to an issue or merge request."""
    return [subject.references.full if arguments.get("full") else subject.references.short for subject in subjects]


@resolvers.value("Issue.taskCompletionStatus", "MergeRequest.taskCompletionStatus")
def task_completion(_: QueryContext, subject: Any) -> dict[str, int]:
    """Return the numbers of tasks in the description."""
    status = subject.task_completion_status
    return {"count": status.count, "completed_count": status.completed_count}


def _time_field(field: str, attribute: str) -> None:
    @resolvers.value(f"Issue.{field}", f"MergeRequest.{field}")
    def time_field(_: QueryContext, subject: Any) -> Any:
        """Return a field of the time tracking."""
        return getattr(subject.time_stats, attribute)


for _field, _attribute in {
    "timeEstimate": "time_estimate",
    "totalTimeSpent": "total_time_spent",
    "humanTimeEstimate": "human_time_estimate",
    "humanTotalTimeSpent": "human_total_time_spent",
}.items():
    _time_field(_field, _attribute)


@resolvers.value("Issue.moved")
def is_moved(_: QueryContext, issue: Any) -> bool:
    """Return whether the issue was moved to another project."""
    return issue.moved_to_id is not None


@resolvers.single("Issue.movedTo")
def find_moved_issue(context: QueryContext, issue: Any, _: Arguments) -> Any:
    """Return the issue that replaces a moved one."""
    return issue_by_id(context, issue.moved_to_id) if issue.moved_to_id is not None else None


@resolvers.single("Issue.subscribed")
def is_subscribed(context: QueryContext, issue: Any, _: Arguments) -> bool:
    """Return whether the caller gets notifications; lists do not contain it."""
    if not context.actor.known:
        return False
    if not isinstance(issue.subscribed, bool):
        issue = context.call("GET /projects/:id/issues/:issue_iid", id=issue.project_id, issue_iid=issue.iid)
    return bool(issue.subscribed)


@resolvers.single("Issue.participants")
def list_participants(context: QueryContext, issue: Any, arguments: Arguments) -> ConnectionPage:
    """Return the participants of an issue."""
    route = "GET /projects/:id/issues/:issue_iid/participants"
    return listed(context, route, arguments, id=issue.project_id, issue_iid=issue.iid)


@resolvers.single("Issue.linkedWorkItems")
def list_linked_issues(context: QueryContext, issue: Any, arguments: Arguments) -> ConnectionPage:
    """Return the issues that an issue is linked to."""
    route = "GET /projects/:id/issues/:issue_iid/links"
    return listed(context, route, arguments, id=issue.project_id, issue_iid=issue.iid)


@resolvers.value("LinkedWorkItemType.linkId")
def link_id(_: QueryContext, linked: Any) -> str:
    """Return the global id of the link."""
    return to_global_id("WorkItems::RelatedWorkItemLink", linked.issue_link_id)


@resolvers.value("LinkedWorkItemType.workItem")
def find_linked_issue(_: QueryContext, linked: Any) -> Any:
    """Return the issue at the other end of a link."""
    return linked


@resolvers.single("Issue.relatedMergeRequests")
def list_related_merge_requests(context: QueryContext, issue: Any, arguments: Arguments) -> ConnectionPage:
    """Return the merge requests that mention an issue."""
    route = "GET /projects/:id/issues/:issue_iid/related_merge_requests"
    return listed(context, route, arguments, id=issue.project_id, issue_iid=issue.iid)


@resolvers.value("Issue.userPermissions", "WorkItem.userPermissions")
def find_permissions(_: QueryContext, issue: Any) -> Any:
    """Return the issue as the parent of its permissions."""
    return issue


def _permission(field: str, route: str) -> None:
    @resolvers.single(field)
    def may_call(context: QueryContext, issue: Any, _: Arguments) -> bool:
        """Return whether the endpoint of an action allows it to the caller."""
        return context.allows(route, id=issue.project_id, issue_iid=issue.iid)


_ISSUE = "/projects/:id/issues/:issue_iid"
for _field, _route in {
    "IssuePermissions.adminIssue": f"PUT {_ISSUE}",
    "IssuePermissions.createNote": f"POST {_ISSUE}/notes",
    "IssuePermissions.moveIssue": f"POST {_ISSUE}/move",
    "IssuePermissions.readIssue": f"GET {_ISSUE}",
    "IssuePermissions.reopenIssue": f"PUT {_ISSUE}",
    "IssuePermissions.updateIssue": f"PUT {_ISSUE}",
    "WorkItemPermissions.adminWorkItem": f"PUT {_ISSUE}",
    "WorkItemPermissions.createNote": f"POST {_ISSUE}/notes",
    "WorkItemPermissions.deleteWorkItem": f"DELETE {_ISSUE}",
    "WorkItemPermissions.moveWorkItem": f"POST {_ISSUE}/move",
    "WorkItemPermissions.readWorkItem": f"GET {_ISSUE}",
    "WorkItemPermissions.updateWorkItem": f"PUT {_ISSUE}",
    "WorkItemPermissions.setWorkItemMetadata": f"PUT {_ISSUE}",
}.items():
    _permission(_field, _route)


@resolvers.batch("Timelog.project", "WorkItem.project", "MergeRequest.project")
def find_projects(context: QueryContext, subjects: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the projects of subjects."""
    numbers = [subject.project_id for subject in subjects]
    found = load_projects(context, numbers)
    return [found[number] for number in numbers]
