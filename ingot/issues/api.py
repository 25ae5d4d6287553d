"""Issues over the API."""

from collections.abc import Sequence
from typing import Any, Literal

from ingot.access.levels import Access
from ingot.access.rules import administrators, signed_in
from ingot.api.params import Missing, given, path_number
from ingot.api.routes import Ahead, Call, Routes
from ingot.api.views import View
from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page
from ingot.errors import NotFound
from ingot.events.bus import emit
from ingot.followers.queries import said
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.issues import moving, policy, queries, service
from ingot.issues.commands.obeying import create_issue as create_obeying
from ingot.issues.events import MergeRequestsAsked
from ingot.issues.kind import ISSUES
from ingot.issues.params import CreateIssue, EditIssue, ListIssues, MoveIssue
from ingot.issues.planned import Planned, planning_routes
from ingot.issues.policy import Found, Place
from ingot.issues.tables import Issue
from ingot.issues.views import (
    IssueStatisticsView,
    IssueView,
    issue_view,
    issue_views,
    statistics_view,
)
from ingot.notes.queries import has_written
from ingot.projects.queries import find_project
from ingot.projects.tables import Project
from ingot.projects.uploads.files import uploads_of
from ingot.projects.uploads.tables import StoredUpload

routes = Routes("issues")


class OriginView(View):
    """With which program and from where something was written."""

    user_agent: str
    ip_address: str
    spamfilter_submitted: bool
    akismet_submitted: bool


def place_in_path(call: Call) -> tuple[Access, Place]:
    """The project whose issues are meant."""
    here, project = find_project(call.db, call.actor, call.path["id"])
    return here, Place(here, project)


def issue_in_path(call: Call) -> tuple[Access, Found]:
    """The issue that the path names."""
    found = queries.find_issue(call.db, call.actor, call.path["id"], call.path["issue_iid"])
    return found.here, found


def may_read_place(actor: object, here: Access, place: Place) -> bool:
    """Those who see a project that has issues."""
    return policy.may_read_issues(actor, here, place.project)  # type: ignore[arg-type] # The kernel hands over an actor.


def _shown(call: Call, project: Project, issue: Issue, assignees: Sequence[int] | None = None) -> IssueView:
    if assignees is None:
        assignees = queries.assignees_of(call.db, [issue.id]).get(issue.id, ())
    return issue_view(
        call.db,
        call.actor,
        issue,
        call.origin.base,
        subscribed=_follows(call, issue, assignees),
        assignees=assignees,
        path=project.full_path,
    )


def _follows(call: Call, issue: Issue, assignees: Sequence[int]) -> bool:
    """Whether the caller follows: as they said, else whether they take part."""
    user_id = call.actor.user_id
    wish = said(call.db, user_id, "issue", issue.id)
    if wish is not None:
        return wish
    return user_id in (issue.author_id, *assignees) or has_written(call.db, "issue", issue.id, user_id)


def _listed(
    call: Call, found: Listing[Issue], params: ListIssues, paths: dict[int, str] | None = None
) -> Listing[IssueView]:
    details = params.with_labels_details
    return found.of(
        issue_views(call.db, call.actor, found.items, call.origin.base, with_labels_details=details, paths=paths)
    )


@routes.get("/issues", may=signed_in, returns=list[IssueView])
def list_issues(call: Call, params: ListIssues, page: Page) -> Listing[IssueView]:
    """List issues; those that the caller wrote unless another scope is asked for."""
    return _listed(call, queries.list_issues(call.db, call.actor, params, page), params)


@routes.get("/groups/:id/issues", on=group_in_path, may=may_see_group, returns=list[IssueView])
def list_group_issues(call: Call, group: Namespace, params: ListIssues, page: Page) -> Listing[IssueView]:
    """List the issues of the projects in a group."""
    return _listed(call, queries.list_group_issues(call.db, call.actor, group.id, params, page), params)


@routes.get("/projects/:id/issues", on=place_in_path, may=may_read_place, returns=list[IssueView])
def list_project_issues(call: Call, place: Place, params: ListIssues, page: Page) -> Listing[IssueView]:
    """List the issues of a project."""
    found = queries.list_project_issues(call.db, call.actor, place.here, place.project, params, page)
    return _listed(call, found, params, {place.project.id: place.project.full_path})


@routes.get("/issues_statistics", may=signed_in, returns=IssueStatisticsView)
def get_statistics(call: Call, params: ListIssues) -> IssueStatisticsView:
    """Count issues by state; those that the caller wrote unless another scope is asked for."""
    return statistics_view(queries.count_issues(call.db, call.actor, params))


@routes.get("/groups/:id/issues_statistics", on=group_in_path, may=may_see_group, returns=IssueStatisticsView)
def get_group_statistics(call: Call, group: Namespace, params: ListIssues) -> IssueStatisticsView:
    """Count the issues of the projects in a group by state."""
    return statistics_view(queries.count_group_issues(call.db, call.actor, group.id, params))


@routes.get("/projects/:id/issues_statistics", on=place_in_path, may=may_read_place, returns=IssueStatisticsView)
def get_project_statistics(call: Call, place: Place, params: ListIssues) -> IssueStatisticsView:
    """Count the issues of a project by state."""
    return statistics_view(queries.count_project_issues(call.db, call.actor, place.here, place.project, params))


@routes.get("/issues/:id", may=administrators, returns=IssueView)
def get_issue_anywhere(call: Call) -> IssueView:
    """Get an issue by its number within the instance."""
    found = queries.find_anywhere(call.db, path_number(call.path, "id"))
    return _shown(call, found.project, found.issue, found.assignees)


@routes.get("/projects/:id/issues/:issue_iid", on=issue_in_path, may=policy.may_read_found, returns=IssueView)
def get_issue(call: Call, found: Found) -> IssueView:
    """Get an issue."""
    return _shown(call, found.project, found.issue, found.assignees)


@routes.post("/projects/:id/issues", on=place_in_path, may=policy.may_create_issue, returns=IssueView)
def create_issue(call: Call, place: Place, params: CreateIssue) -> IssueView:
    """Create an issue."""
    if not params.title:
        raise Missing("title")
    issue = create_obeying(
        call.db, call.actor, place.here, place.project, params, call.origin.user_agent, call.origin.ip
    )
    return _shown(call, place.project, issue)


@routes.put("/projects/:id/issues/:issue_iid", on=issue_in_path, may=policy.may_edit_issue, returns=IssueView)
def edit_issue(call: Call, found: Found, params: EditIssue) -> IssueView:
    """Edit an issue, close it or reopen it."""
    if not any(value is not None for value in given(params).values()) and not _empties(params):
        raise Missing("title")
    edited = service.edit_issue(call.db, call.actor, found, params)
    return _shown(call, found.project, edited)


def _empties(params: EditIssue) -> bool:
    """Whether something is to be taken away, which is said by nothing in its place."""
    names = ("description", "assignee_ids", "assignee_id", "milestone_id", "labels", "due_date")
    return any(getattr(params, name) is None for name in names)


@routes.delete("/projects/:id/issues/:issue_iid", on=place_in_path, may=policy.may_delete_issues, returns=None)
def delete_issue(call: Call, place: Place) -> None:
    """Delete an issue."""
    number = path_number(call.path, "issue_iid")
    found = queries.issue_or_none(call.db, call.actor, place.here, place.project, number)
    if found is not None:
        service.delete_issue(call.db, call.actor, found.issue)


def _copy_uploads(ahead: Ahead, params: MoveIssue) -> list[moving.Copied]:
    """Copy the files that the issue links to, ahead of the rows; those that stay without a row are swept up."""

    def look(db: Connection) -> tuple[list[StoredUpload], Project]:
        found = queries.find_issue(db, ahead.actor, ahead.path["id"], ahead.path["issue_iid"])
        target = moving.find_target(db, ahead.actor, found, params.to_project_id)
        return moving.mentioned_uploads(db, found), target

    uploads, target = ahead.database.read(look, ahead_of_change=True)
    return moving.copy_uploads(uploads_of(ahead.settings), uploads, target)


@routes.post(
    "/projects/:id/issues/:issue_iid/move",
    on=issue_in_path,
    may=policy.may_move_issue,
    returns=IssueView,
    denied=400,  # The contract's word for a refusal here; elsewhere it is 403.
    prepare=_copy_uploads,
)
def move_issue(call: Call, found: Found, params: MoveIssue, copied: list[moving.Copied]) -> IssueView:
    """Move an issue to another project."""
    target = moving.find_target(call.db, call.actor, found, params.to_project_id)
    moved = moving.move_issue(call.db, call.actor, found, target, copied)
    return _shown(call, target, moved)


planning_routes(
    routes,
    "/projects/:id/issues/:issue_iid",
    Planned(
        kind=ISSUES,
        finder=issue_in_path,
        row=lambda found: found.issue,
        subject=lambda found: service.subject_of(found.issue),
        clock=service.CLOCK,
        view=IssueView,
        shown=lambda call, found: _shown(call, found.project, found.issue, found.assignees),
        follows=lambda call, found: _follows(call, found.issue, found.assignees),
        may_read=policy.may_read_found,
        may_take_part=policy.may_take_part,
        may_edit=policy.may_edit_issue,
    ),
)


@routes.get(
    "/projects/:id/issues/:issue_iid/closed_by",
    on=issue_in_path,
    may=policy.may_read_found,
    returns=list[dict[str, Any]],
)
def list_closing(call: Call, found: Found, page: Page) -> Listing[Any]:
    """List the merge requests that close an issue when they are merged."""
    return _merge_requests(call, found, "closing", page)


@routes.get(
    "/projects/:id/issues/:issue_iid/related_merge_requests",
    on=issue_in_path,
    may=policy.may_read_found,
    returns=list[dict[str, Any]],
)
def list_related(call: Call, found: Found, page: Page) -> Listing[Any]:
    """List the merge requests that mention an issue."""
    return _merge_requests(call, found, "related", page)


def _merge_requests(call: Call, found: Found, how: Literal["closing", "related"], page: Page) -> Listing[Any]:
    """They lie above: whoever keeps them answers, and nobody does where there are none."""
    issue, answers = found.issue, list[Listing[Any]]()
    emit(call.db, MergeRequestsAsked(issue.id, issue.project_id, how, call.actor, call.origin.base, page, answers))
    return answers[0] if answers else Listing([], page, 0)


@routes.get(
    "/projects/:id/issues/:issue_iid/user_agent_detail", on=issue_in_path, may=administrators, returns=OriginView
)
def get_origin(call: Call, found: Found) -> OriginView:
    """Get with which program and from where an issue was written."""
    origin = queries.origin_of(call.db, found.issue.id)
    if origin is None:
        raise NotFound("UserAgentDetail")
    user_agent, ip_address, submitted = origin
    return OriginView(user_agent, ip_address, submitted, submitted)
