"""Issues over the API."""

from ingot.access.levels import Access
from ingot.access.rules import administrators, signed_in
from ingot.api.params import Missing, Params, given
from ingot.api.routes import Call, Routes
from ingot.api.views import View
from ingot.db.paging import Listing, Page
from ingot.errors import Invalid, NotFound, Unchanged
from ingot.followers.queries import said
from ingot.followers.service import follow
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.issues import policy, queries, service
from ingot.issues.durations import parse_duration
from ingot.issues.params import CreateIssue, EditIssue, ListIssues
from ingot.issues.policy import Found, Place
from ingot.issues.tables import Issue
from ingot.issues.views import IssueView, TimeStatsView, issue_view, issue_views, time_stats_view
from ingot.notes.queries import has_written
from ingot.projects.queries import find_project

routes = Routes("issues")


class Duration(Params):
    """How long, as people write it."""

    duration: str
    summary: str | None = None


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


def _shown(call: Call, issue: Issue, assignees: tuple[int, ...]) -> IssueView:
    wish = said(call.db, call.actor.user_id, "issue", issue.id)
    takes_part = call.actor.user_id in (issue.author_id, *assignees) or has_written(
        call.db, "issue", issue.id, call.actor.user_id
    )
    return issue_view(call.db, call.actor, issue, call.origin.base, subscribed=takes_part if wish is None else wish)


def _again(call: Call, found: Found) -> IssueView:
    return _shown(call, queries.issue_by_id(call.db, found.issue.id), found.assignees)


def _listed(call: Call, found: Listing[Issue], params: ListIssues) -> Listing[IssueView]:
    return found.of(issue_views(call.db, found.items, call.origin.base, with_labels_details=params.with_labels_details))


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
    return _listed(call, found, params)


@routes.get("/projects/:id/issues/:issue_iid", on=issue_in_path, may=policy.may_read_found, returns=IssueView)
def get_issue(call: Call, found: Found) -> IssueView:
    """Get an issue."""
    return _shown(call, found.issue, found.assignees)


@routes.post("/projects/:id/issues", on=place_in_path, may=policy.may_create_issue, returns=IssueView)
def create_issue(call: Call, place: Place, params: CreateIssue) -> IssueView:
    """Create an issue."""
    if not params.title:
        raise Missing("title")
    issue = service.create_issue(
        call.db, call.actor, place.here, place.project, params, call.origin.user_agent, call.origin.ip
    )
    return _shown(call, issue, ())


@routes.put("/projects/:id/issues/:issue_iid", on=issue_in_path, may=policy.may_edit_issue, returns=IssueView)
def edit_issue(call: Call, found: Found, params: EditIssue) -> IssueView:
    """Edit an issue, close it or reopen it."""
    if not any(value is not None for value in given(params).values()) and not _empties(params):
        raise Missing("title")
    edited = service.edit_issue(call.db, call.actor, found, params)
    return _shown(call, edited, tuple(queries.assignees_of(call.db, [edited.id]).get(edited.id, ())))


def _empties(params: EditIssue) -> bool:
    """Whether something is to be taken away, which is said by nothing in its place."""
    names = ("description", "assignee_ids", "assignee_id", "milestone_id", "labels", "due_date")
    return any(getattr(params, name) is None for name in names)


@routes.delete("/projects/:id/issues/:issue_iid", on=issue_in_path, may=policy.may_delete_issue, returns=None)
def delete_issue(call: Call, found: Found) -> None:
    """Delete an issue."""
    service.delete_issue(call.db, call.actor, found.issue)


@routes.post("/projects/:id/issues/:issue_iid/subscribe", on=issue_in_path, may=policy.may_take_part, returns=IssueView)
def subscribe(call: Call, found: Found) -> IssueView:
    """Follow an issue."""
    return _follow(call, found, following=True)


@routes.post(
    "/projects/:id/issues/:issue_iid/unsubscribe", on=issue_in_path, may=policy.may_take_part, returns=IssueView
)
def unsubscribe(call: Call, found: Found) -> IssueView:
    """Stop following an issue."""
    return _follow(call, found, following=False)


def _follow(call: Call, found: Found, *, following: bool) -> IssueView:
    if _shown(call, found.issue, found.assignees).subscribed is following:
        raise Unchanged
    follow(call.db, call.actor.user_id, "issue", found.issue.id, following=following)
    return _again(call, found)


@routes.post(
    "/projects/:id/issues/:issue_iid/time_estimate",
    on=issue_in_path,
    may=policy.may_triage_issue,
    returns=TimeStatsView,
    status=200,
)
def set_time_estimate(call: Call, found: Found, params: Duration) -> TimeStatsView:
    """Estimate how long an issue takes."""
    seconds = _seconds(params)
    if seconds < 0:
        raise Invalid(duration=["is invalid"])
    return time_stats_view(service.set_estimate(call.db, found.issue, seconds))


@routes.post(
    "/projects/:id/issues/:issue_iid/reset_time_estimate",
    on=issue_in_path,
    may=policy.may_triage_issue,
    returns=TimeStatsView,
    status=200,
)
def reset_time_estimate(call: Call, found: Found) -> TimeStatsView:
    """Take the estimate of an issue back."""
    return time_stats_view(service.set_estimate(call.db, found.issue, 0))


@routes.post(
    "/projects/:id/issues/:issue_iid/add_spent_time",
    on=issue_in_path,
    may=policy.may_triage_issue,
    returns=TimeStatsView,
)
def add_spent_time(call: Call, found: Found, params: Duration) -> TimeStatsView:
    """Add to the time that an issue took, or take some of it back."""
    return time_stats_view(service.add_spent_time(call.db, found.issue, _seconds(params)))


@routes.post(
    "/projects/:id/issues/:issue_iid/reset_spent_time",
    on=issue_in_path,
    may=policy.may_triage_issue,
    returns=TimeStatsView,
    status=200,
)
def reset_spent_time(call: Call, found: Found) -> TimeStatsView:
    """Forget the time that an issue took."""
    return time_stats_view(service.add_spent_time(call.db, found.issue, -found.issue.total_time_spent))


@routes.get(
    "/projects/:id/issues/:issue_iid/time_stats", on=issue_in_path, may=policy.may_read_found, returns=TimeStatsView
)
def get_time_stats(call: Call, found: Found) -> TimeStatsView:  # noqa: ARG001 - Every handler gets its call.
    """Get how long an issue takes, and took so far."""
    return time_stats_view(found.issue)


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


def _seconds(params: Duration) -> int:
    seconds = parse_duration(params.duration)
    if not seconds:
        raise Invalid(duration=["is invalid"])
    return seconds
