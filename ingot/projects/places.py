"""Where things belong that projects and groups both have: rooms declare the calls about them once."""

from ingot.groups.members.queries import Source
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.queries import source_of as source_of_group
from ingot.projects.queries import source_of as source_of_project
from ingot.projects.tables import Project

Place = Project | Namespace


def source_of(place: Place) -> Source:
    """The project or group as the one that has members, and whatever else belongs to either."""
    return source_of_project(place) if isinstance(place, Project) else source_of_group(place)
