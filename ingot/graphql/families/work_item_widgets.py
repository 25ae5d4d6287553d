"""Widgets of work items that show links, merge requests, branches and award emoji."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.issues.views import IssueView
from ingot.graphql.connections import MAX_PAGE_SIZE, ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.families.issues import list_related_merge_requests
from ingot.graphql.families.notes import list_issue_awards
from ingot.graphql.families.work_items import Widget
from ingot.graphql.loaders import load_projects
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()


@resolvers.single("WorkItemWidgetLinkedItems.blocked", call="links of a work item")
def is_blocked(context: QueryContext, widget: Widget, _: Arguments) -> bool:
    """Return whether an open issue blocks the work item."""
    return _count_links(context, widget.issue, "is_blocked_by") > 0


@resolvers.single("WorkItemWidgetLinkedItems.blockedByCount", call="links of a work item")
def count_blocking_issues(context: QueryContext, widget: Widget, _: Arguments) -> int:
    """Return the number of open issues that block the work item."""
    return _count_links(context, widget.issue, "is_blocked_by")


@resolvers.single("WorkItemWidgetLinkedItems.blockingCount", call="links of a work item")
def count_blocked_issues(context: QueryContext, widget: Widget, _: Arguments) -> int:
    """Return the number of open issues that the work item blocks."""
    return _count_links(context, widget.issue, "blocks")


def _count_links(context: QueryContext, issue: IssueView, link_type: str) -> int:
    """Return the number of open issues, among the newest 100 links that the caller may see."""

    def fetch(_: Any) -> dict[int, list[Any]]:
        route = "GET /projects/:id/issues/:issue_iid/links"
        links = context.call(route, {"per_page": MAX_PAGE_SIZE}, id=issue.project_id, issue_iid=issue.iid)
        return {issue.id: links.items}

    links = context.load("links", [issue.id], fetch)[issue.id] or ()
    return sum(link.link_type == link_type and link.state == "opened" for link in links)


@resolvers.batch("WorkItemWidgetDevelopment.willAutoCloseByMergeRequest")
def closes_automatically(context: QueryContext, widgets: Sequence[Widget], _: Arguments) -> list[bool]:
    """Return whether the merge of a closing merge request closes the work item."""
    found = load_projects(context, [widget.issue.project_id for widget in widgets])
    return [bool(getattr(found[widget.issue.project_id], "autoclose_referenced_issues", False)) for widget in widgets]


@resolvers.single("WorkItemWidgetDevelopment.relatedMergeRequests")
def widget_related(context: QueryContext, widget: Widget, arguments: Arguments) -> ConnectionPage:
    """Return the merge requests that mention the work item."""
    return list_related_merge_requests(context, widget.issue, arguments)


@resolvers.single("WorkItemWidgetDevelopment.closingMergeRequests")
def widget_closing(context: QueryContext, widget: Widget, arguments: Arguments) -> ConnectionPage:
    """Return the merge requests that close the work item when they are merged."""
    route = "GET /projects/:id/issues/:issue_iid/closed_by"
    page = listed(context, route, arguments, id=widget.issue.project_id, issue_iid=widget.issue.iid)
    page.nodes = [{"merge_request": each} for each in page.nodes]
    return page


@resolvers.single("WorkItemWidgetDevelopment.relatedBranches")
def widget_branches(context: QueryContext, widget: Widget, arguments: Arguments) -> ConnectionPage:
    """Return the branches whose names begin with the number of the work item."""
    route = "GET /projects/:id/repository/branches"
    if not context.allows(route, id=widget.issue.project_id):
        return connection_of([], arguments)
    return listed(context, route, arguments, {"search": f"^{widget.issue.iid}-"}, id=widget.issue.project_id)


@resolvers.batch("WorkItemWidgetDevelopment.featureFlags")
def widget_flags(_: QueryContext, widgets: Sequence[Widget], arguments: Arguments) -> list[ConnectionPage]:
    """Return none: links of feature flags to issues belong to a paid tier."""
    return [connection_of([], arguments) for _ in widgets]


@resolvers.batch("WorkItemWidgetAwardEmoji.awardEmoji")
def widget_awards(context: QueryContext, widgets: Sequence[Widget], arguments: Arguments) -> list[ConnectionPage]:
    """Return the award emoji."""
    return list_issue_awards(context, [widget.issue for widget in widgets], arguments)


@resolvers.value("WorkItemWidgetAwardEmoji.upvotes")
def widget_upvotes(_: QueryContext, widget: Widget) -> int:
    """Return the number of thumbs up."""
    return widget.issue.upvotes


@resolvers.value("WorkItemWidgetAwardEmoji.downvotes")
def widget_downvotes(_: QueryContext, widget: Widget) -> int:
    """Return the number of thumbs down."""
    return widget.issue.downvotes
