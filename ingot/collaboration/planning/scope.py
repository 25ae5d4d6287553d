"""Projects as the parents of issuables, with the caller's access."""

from typing import NamedTuple

from ingot.collaboration.milestones.policy import may_read_milestones
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.api.routes import Call
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project


class ProjectScope(NamedTuple):
    """A project and the caller's access to it."""

    access: Access
    project: Project


def project_scope_in_path(call: Call) -> tuple[Access, ProjectScope]:
    """Find the project that the path names."""
    access, project = find_project(call.db, call.actor, call.path["id"])
    return access, ProjectScope(access, project)


def may_read_milestones_in(actor: Actor, access: Access, scope: ProjectScope) -> bool:
    """Users who see a project in which issues or merge requests are enabled."""
    return may_read_milestones(actor, access, scope.project)
