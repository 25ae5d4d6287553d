"""Endpoints of issues."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.issues import move, policy, queries, service
from ingot.collaboration.issues.params import CreateIssue, EditIssue, ListIssues, MoveIssue
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.ports import IssueMergeRequests
from ingot.collaboration.issues.quick_actions.execute import create_issue as create_issue_with_commands
from ingot.collaboration.issues.subject_kind import ISSUE_KIND
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.views import (
    IssueStatisticsView,
    IssueView,
    found_issue_view,
    issue_view,
    issue_views,
    statistics_view,
)
from ingot.collaboration.participants.queries import is_subscribed
from ingot.collaboration.planning.api import IssuableEndpoints, PlanningPaths, planning_routes
from ingot.collaboration.planning.scope import ProjectScope, project_scope_in_path
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import administrators, signed_in
from ingot.core.api.params import MissingParameter, given_fields, path_number
from ingot.core.api.routes import Call, PrepareContext, Routes
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.files import upload_files
from ingot.projects.uploads.tables import StoredUpload

routes = Routes("issues")


class UserAgentDetailView(View):
    """User agent and IP address with which an issue was created."""

    user_agent: str
    ip_address: str
    spamfilter_submitted: bool
    akismet_submitted: bool


def issue_in_path(call: Call) -> tuple[Access, IssueLookup]:
    """Find the issue that the path names."""
    lookup = queries.find_issue(call.db, call.actor, call.path["id"], call.path["issue_iid"])
    return lookup.access, lookup


def may_read_issues_in(actor: Actor, access: Access, scope: ProjectScope) -> bool:
    """Users who see a project in which issues are enabled."""
    return policy.may_read_issues(actor, access, scope.project)


def _issue_as_view(call: Call, project: Project, issue: Issue, assignees: Sequence[int] | None = None) -> IssueView:
    if assignees is None:
        assignees = queries.assignees_of(call.db, [issue.id]).get(issue.id, ())
    return issue_view(
        call.db,
        call.actor,
        issue,
        call.origin.base,
        subscribed=is_subscribed(call.db, call.actor.user_id, "issue", issue.id, (issue.author_id, *assignees)),
        assignees=assignees,
        path=project.full_path,
    )


def _issues_as_views(
    call: Call, listing: Listing[Issue], params: ListIssues, paths: dict[int, str] | None = None
) -> Listing[IssueView]:
    details = params.with_labels_details
    return listing.of(
        issue_views(call.db, call.actor, listing.items, call.origin.base, with_labels_details=details, paths=paths)
    )


@routes.get("/issues", may=signed_in, returns=list[IssueView], cached=True)
def list_issues(call: Call, params: ListIssues, page: Page) -> Listing[IssueView]:
    """List issues, by default those that the caller created."""
    return _issues_as_views(call, queries.list_issues(call.db, call.actor, params, page), params)


@routes.get("/groups/:id/issues", on=group_in_path, may=may_see_group, returns=list[IssueView], cached=True)
def list_group_issues(call: Call, group: Namespace, params: ListIssues, page: Page) -> Listing[IssueView]:
    """List the issues of the projects in a group."""
    return _issues_as_views(call, queries.list_group_issues(call.db, call.actor, group.id, params, page), params)


@routes.get(
    "/projects/:id/issues", on=project_scope_in_path, may=may_read_issues_in, returns=list[IssueView], cached=True
)
def list_project_issues(call: Call, lookup: ProjectScope, params: ListIssues, page: Page) -> Listing[IssueView]:
    """List the issues of a project."""
    listing = queries.list_project_issues(call.db, call.actor, lookup.access, lookup.project, params, page)
    return _issues_as_views(call, listing, params, {lookup.project.id: lookup.project.full_path})


@routes.get("/issues_statistics", may=signed_in, returns=IssueStatisticsView, cached=True)
def get_statistics(call: Call, params: ListIssues) -> IssueStatisticsView:
    """Count issues by state, by default those that the caller created."""
    return statistics_view(queries.count_issues(call.db, call.actor, params))


@routes.get(
    "/groups/:id/issues_statistics", on=group_in_path, may=may_see_group, returns=IssueStatisticsView, cached=True
)
def get_group_statistics(call: Call, group: Namespace, params: ListIssues) -> IssueStatisticsView:
    """Count the issues of the projects in a group by state."""
    return statistics_view(queries.count_group_issues(call.db, call.actor, group.id, params))


@routes.get(
    "/projects/:id/issues_statistics",
    on=project_scope_in_path,
    may=may_read_issues_in,
    returns=IssueStatisticsView,
    cached=True,
)
def get_project_statistics(call: Call, lookup: ProjectScope, params: ListIssues) -> IssueStatisticsView:
    """Count the issues of a project by state."""
    return statistics_view(queries.count_project_issues(call.db, call.actor, lookup.access, lookup.project, params))


@routes.get("/issues/:id", may=administrators, returns=IssueView)
def get_issue_by_id(call: Call) -> IssueView:
    """Get an issue by its id."""
    lookup = queries.find_issue_by_id(call.db, path_number(call.path, "id"))
    return _issue_as_view(call, lookup.project, lookup.issue, lookup.assignees)


@routes.get(
    "/projects/:id/issues/:issue_iid", on=issue_in_path, may=policy.may_read_issue, returns=IssueView, cached=True
)
def get_issue(call: Call, lookup: IssueLookup) -> IssueView:
    """Get an issue."""
    return found_issue_view(call.db, call.actor, lookup, call.origin.base)


@routes.post("/projects/:id/issues", on=project_scope_in_path, may=policy.may_create_issue, returns=IssueView)
def create_issue(call: Call, lookup: ProjectScope, params: CreateIssue) -> IssueView:
    """Create an issue."""
    if not params.title:
        raise MissingParameter("title")
    issue = create_issue_with_commands(
        call.db, call.actor, lookup.access, lookup.project, params, call.origin.user_agent, call.origin.ip
    )
    return _issue_as_view(call, lookup.project, issue)


@routes.put("/projects/:id/issues/:issue_iid", on=issue_in_path, may=policy.may_edit_issue, returns=IssueView)
def edit_issue(call: Call, lookup: IssueLookup, params: EditIssue) -> IssueView:
    """Edit an issue, close it or reopen it."""
    if not any(value is not None for value in given_fields(params).values()) and not _clears_fields(params):
        raise MissingParameter("title")
    edited = service.edit_issue(call.db, call.actor, lookup, params)
    return _issue_as_view(call, lookup.project, edited)


def _clears_fields(params: EditIssue) -> bool:
    """Return whether the request clears a field, which it does by sending null."""
    names = ("description", "assignee_ids", "assignee_id", "milestone_id", "parent_id", "labels", "due_date")
    return any(getattr(params, name) is None for name in names)


@routes.delete("/projects/:id/issues/:issue_iid", on=project_scope_in_path, may=policy.may_delete_issues, returns=None)
def delete_issue(call: Call, lookup: ProjectScope) -> None:
    """Delete an issue."""
    iid = path_number(call.path, "issue_iid")
    issue_lookup = queries.issue_or_none(call.db, call.actor, lookup.access, lookup.project, iid)
    if issue_lookup is not None:
        service.delete_issue(call.db, call.actor, issue_lookup.issue)


def _copy_uploads(context: PrepareContext, params: MoveIssue) -> list[move.CopiedUpload]:
    """Copy the files that the issue links to, before the transaction.

    A cleanup job deletes files that remain without a row.
    """

    def read_uploads(db: Connection) -> tuple[list[StoredUpload], Project]:
        lookup = queries.find_issue(db, context.actor, context.path["id"], context.path["issue_iid"])
        target = move.find_move_target(db, context.actor, lookup, params.to_project_id)
        return move.mentioned_uploads(db, lookup), target

    uploads, target = context.database.read(read_uploads, ahead_of_change=True)
    return move.copy_uploads(upload_files(context.settings), uploads, target)


@routes.post(
    "/projects/:id/issues/:issue_iid/move",
    on=issue_in_path,
    may=policy.may_move_issue,
    returns=IssueView,
    denied=400,  # The specification demands 400 here; other endpoints respond 403.
    prepare=_copy_uploads,
)
def move_issue(call: Call, lookup: IssueLookup, params: MoveIssue, copied: list[move.CopiedUpload]) -> IssueView:
    """Move an issue to another project."""
    target = move.find_move_target(call.db, call.actor, lookup, params.to_project_id)
    moved = move.move_issue(call.db, call.actor, lookup, target, copied)
    return _issue_as_view(call, target, moved)


PLANNING = planning_routes(
    routes,
    IssuableEndpoints(
        kind=ISSUE_KIND,
        finder=issue_in_path,
        record=lambda lookup: lookup.issue,
        subject=lambda lookup: service.subject_of(lookup.issue),
        time_tracking=service.TIME_TRACKING,
        view=IssueView,
        make_view=lambda call, lookup: found_issue_view(call.db, call.actor, lookup, call.origin.base),
        is_subscribed=lambda call, lookup: is_subscribed(
            call.db, call.actor.user_id, "issue", lookup.issue.id, (lookup.issue.author_id, *lookup.assignees)
        ),
        may_read=policy.may_read_issue,
        may_take_part=policy.may_take_part,
        may_edit=policy.may_edit_issue,
    ),
    PlanningPaths(
        subscribe="/projects/:id/issues/:issue_iid/subscribe",
        unsubscribe="/projects/:id/issues/:issue_iid/unsubscribe",
        time_estimate="/projects/:id/issues/:issue_iid/time_estimate",
        reset_time_estimate="/projects/:id/issues/:issue_iid/reset_time_estimate",
        add_spent_time="/projects/:id/issues/:issue_iid/add_spent_time",
        reset_spent_time="/projects/:id/issues/:issue_iid/reset_spent_time",
        time_stats="/projects/:id/issues/:issue_iid/time_stats",
        participants="/projects/:id/issues/:issue_iid/participants",
    ),
)


@routes.get(
    "/projects/:id/issues/:issue_iid/closed_by",
    on=issue_in_path,
    may=policy.may_read_issue,
    returns=list[dict[str, Any]],
)
def list_closing_merge_requests(call: Call, lookup: IssueLookup, page: Page) -> Listing[Any]:
    """List the merge requests that close an issue when they are merged."""
    list_closing = call.db.ports[IssueMergeRequests].list_closing
    return list_closing(call.db, call.actor, lookup.issue.id, call.origin.base, page)


@routes.get(
    "/projects/:id/issues/:issue_iid/related_merge_requests",
    on=issue_in_path,
    may=policy.may_read_issue,
    returns=list[dict[str, Any]],
)
def list_related_merge_requests(call: Call, lookup: IssueLookup, page: Page) -> Listing[Any]:
    """List the merge requests that mention an issue."""
    list_related = call.db.ports[IssueMergeRequests].list_related
    return list_related(call.db, call.actor, lookup.issue.id, call.origin.base, page)


@routes.get(
    "/projects/:id/issues/:issue_iid/user_agent_detail",
    on=issue_in_path,
    may=administrators,
    returns=UserAgentDetailView,
)
def get_user_agent_detail(call: Call, lookup: IssueLookup) -> UserAgentDetailView:
    """Get the user agent and IP address with which an issue was created."""
    origin = queries.user_agent_detail_of(call.db, lookup.issue.id)
    if origin is None:
        raise NotFound("UserAgentDetail")
    user_agent, ip_address, submitted = origin
    return UserAgentDetailView(user_agent, ip_address, submitted, submitted)
