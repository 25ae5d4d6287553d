"""Permissions on boards."""

from ingot.collaboration.issues.policy import may_read_issues, may_triage
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project


def may_read_boards(actor: Actor, access: Access, project: Project) -> bool:
    """Users who can read the project's issues."""
    return may_read_issues(actor, access, project)


def may_admin_boards(actor: Actor, access: Access, project: Project) -> bool:
    """Users who can assign and label the project's issues."""
    return may_read_issues(actor, access, project) and may_triage(actor, access, project)


def may_admin_group_boards(actor: Actor, access: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Reporters of the group."""
    return access.level >= Level.REPORTER or actor.admin
