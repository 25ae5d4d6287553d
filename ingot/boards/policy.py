"""Who may do what with boards."""

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.groups.namespaces.tables import Namespace
from ingot.issues.policy import may_read_issues, may_triage
from ingot.projects.tables import Project


def may_read_boards(actor: Actor, here: Access, project: Project) -> bool:
    """Those who read the project's issues."""
    return may_read_issues(actor, here, project)


def may_admin_boards(actor: Actor, here: Access, project: Project) -> bool:
    """Those who assign and label the project's issues."""
    return may_read_issues(actor, here, project) and may_triage(actor, here, project)


def may_admin_group_boards(actor: Actor, here: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Reporters of the group."""
    return here.level >= Level.REPORTER or actor.admin
