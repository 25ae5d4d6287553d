"""Milestones."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.milestones.views import MilestoneView
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_groups, load_projects
from ingot.graphql.locators import milestone_parent
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
resolvers.types[MilestoneView] = "Milestone"


@resolvers.single("Query.milestone")
def find_milestone(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return a milestone by its id."""
    return milestone_by_id(context, number_of(arguments["id"], "Milestone"))


def milestone_by_id(context: QueryContext, milestone_id: int) -> Any:
    """Return a milestone that the caller may see."""
    parent = milestone_parent(context, milestone_id)
    return context.call(f"GET {parent.route}/milestones/:milestone_id", id=parent.id, milestone_id=milestone_id)


@resolvers.single("Project.milestones")
def list_project_milestones(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the milestones of a project."""
    return _milestones(context, "GET /projects/:id/milestones", project, arguments)


@resolvers.single("Group.milestones")
def list_group_milestones(context: QueryContext, group: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the milestones of a group."""
    return _milestones(context, "GET /groups/:id/milestones", group, arguments)


def _milestones(context: QueryContext, route: str, parent: Any, arguments: Arguments) -> ConnectionPage:
    if arguments.get("ids") is not None:
        numbers = [number_of(each, "Milestone") for each in arguments["ids"]][:20]
        return connection_of([milestone_by_id(context, number) for number in numbers], arguments)
    params = {
        "title": arguments.get("title"),
        "search": arguments.get("searchTitle"),
        "state": arguments.get("state"),
        "containing_date": arguments.get("containingDate"),
        "include_ancestors": arguments.get("includeAncestors"),
        "include_descendants": arguments.get("includeDescendants"),
    }
    return listed(context, route, arguments, params, id=parent.id)


@resolvers.value("Milestone.id")
def milestone_id(_: QueryContext, milestone: Any) -> str:
    """Return the global id."""
    return to_global_id("Milestone", milestone.id)


@resolvers.value("Milestone.projectMilestone")
def is_of_project(_: QueryContext, milestone: Any) -> bool:
    """Return whether the milestone belongs to a project."""
    return milestone.project_id is not None


@resolvers.value("Milestone.groupMilestone")
def is_of_group(_: QueryContext, milestone: Any) -> bool:
    """Return whether the milestone belongs to a group."""
    return milestone.group_id is not None


@resolvers.value("Milestone.upcoming")
def is_upcoming(context: QueryContext, milestone: Any) -> bool:
    """Return whether the milestone has not started yet."""
    today = context.database.clock()[:10]
    return milestone.state == "active" and milestone.start_date is not None and milestone.start_date > today


@resolvers.batch("Milestone.project")
def find_projects(context: QueryContext, milestones: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the projects of milestones."""
    found = load_projects(context, {each.project_id for each in milestones if each.project_id is not None})
    return [found.get(each.project_id) for each in milestones]


@resolvers.batch("Milestone.group")
def find_groups(context: QueryContext, milestones: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the groups of milestones."""
    found = load_groups(context, {each.group_id for each in milestones if each.group_id is not None})
    return [found.get(each.group_id) for each in milestones]


@resolvers.single("Milestone.stats")
def count_issues(context: QueryContext, milestone: Any, _: Arguments) -> dict[str, int]:
    """Return the numbers of issues."""
    parent = milestone_parent(context, milestone.id)
    params = {"milestone": milestone.title, "scope": "all"}
    counts = context.call(f"GET {parent.route}/issues_statistics", params, id=parent.id).statistics.counts
    return {"total_issues_count": counts.all, "closed_issues_count": counts.closed}
