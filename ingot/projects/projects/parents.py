"""Common handling of projects and groups, for endpoints that are declared for both."""

from ingot.projects.groups.queries import member_source as source_of_group
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.queries import member_source as source_of_project
from ingot.projects.projects.tables import Project

ProjectOrGroup = Project | Namespace


def member_source(owner: ProjectOrGroup) -> MemberSource:
    """Return a project or group as a source of members."""
    return source_of_project(owner) if isinstance(owner, Project) else source_of_group(owner)
