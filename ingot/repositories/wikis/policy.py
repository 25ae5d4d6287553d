"""Who may do what with wikis."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.git.core.repository import Repository
from ingot.projects.projects import policy
from ingot.projects.projects.tables import Project


class WikiContext(NamedTuple):
    """A project's wiki, seen by a caller; one that nobody has used yet has no repository."""

    here: Access
    project: Project
    repository: Repository | None


def may_read_wiki(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Those who see a project that has a wiki."""
    return context.project.wiki_enabled and policy.may_see_project(actor, access, context.project)


def may_write_wiki(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Developers of a project that has a wiki, unless it is archived."""
    return context.project.wiki_enabled and policy.may_write_project(actor, access, context.project)


def may_delete_page(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Masters of a project that has a wiki, unless it is archived."""
    return context.project.wiki_enabled and policy.may_change_project(actor, access, context.project)
