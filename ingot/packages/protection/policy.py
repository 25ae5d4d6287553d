"""Permission to manage protection rules."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.packages.records.policy import has_packages
from ingot.projects.projects.policy import may_change_project
from ingot.projects.projects.tables import Project


def may_manage_package_rules(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, if the project has packages and is not archived."""
    return has_packages(project) and may_change_project(actor, access, project)
