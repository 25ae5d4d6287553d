"""Permissions on milestones."""

from sqlalchemy import ColumnElement, or_

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.policy import may_plan_in
from ingot.projects.projects.tables import Project, projects


def may_read_milestones(actor: Actor, access: Access, project: Project) -> bool:
    """Users who can see a project and use its issues or merge requests."""
    return may_plan_in(actor, access, project)


def has_milestones() -> ColumnElement[bool]:
    """Return the condition on a visible project that its milestones are visible too."""
    return or_(projects.c.issues_enabled.is_(True), projects.c.merge_requests_enabled.is_(True))


def may_admin_milestones(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters, unless the project is archived or has issues and merge requests disabled."""
    reporter = access.level >= Level.REPORTER or actor.admin
    return reporter and may_read_milestones(actor, access, project) and not project.archived


def may_admin_group_milestones(actor: Actor, access: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Reporters of the group."""
    return access.level >= Level.REPORTER or actor.admin
