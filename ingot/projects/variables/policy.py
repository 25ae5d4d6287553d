"""Who may do what with a project's variables; those of groups are their owners', the instance's administrators'."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project


def may_read_variables(actor: Actor, access: Access, project: Project) -> bool:
    """Masters of a project that has pipelines: they see the values too."""
    return may_admin_project(actor, access, project) and project.jobs_enabled


def may_change_variables(actor: Actor, access: Access, project: Project) -> bool:
    """The same, unless the project is archived."""
    return may_change_project(actor, access, project) and project.jobs_enabled
