"""Who may do what with wikis."""

from typing import NamedTuple

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.git.repository import Repository
from ingot.projects import policy
from ingot.projects.tables import Project


class Place(NamedTuple):
    """A project's wiki, seen by a caller; one that nobody has used yet has no repository."""

    here: Access
    project: Project
    repository: Repository | None


def may_read_wiki(actor: Actor, here: Access, place: Place) -> bool:
    """Those who see a project that has a wiki."""
    return place.project.wiki_enabled and policy.may_see_project(actor, here, place.project)


def may_write_wiki(actor: Actor, here: Access, place: Place) -> bool:
    """Developers of a project that has a wiki, unless it is archived."""
    return place.project.wiki_enabled and policy.may_write_project(actor, here, place.project)


def may_delete_page(actor: Actor, here: Access, place: Place) -> bool:
    """Masters of a project that has a wiki, unless it is archived."""
    return place.project.wiki_enabled and policy.may_change_project(actor, here, place.project)
