"""Where things belong that projects and groups both have: rooms declare the calls about them once."""

from ingot.projects.groups.queries import member_source as source_of_group
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.queries import member_source as source_of_project
from ingot.projects.projects.tables import Project

ProjectOrGroup = Project | Namespace


def member_source(place: ProjectOrGroup) -> MemberSource:
    """The project or group as the one that has members, and whatever else belongs to either."""
    return source_of_project(place) if isinstance(place, Project) else source_of_group(place)
