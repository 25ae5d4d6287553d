"""Permissions on wikis."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.git.core.repository import Repository
from ingot.projects.projects import policy
from ingot.projects.projects.tables import Project


class WikiContext(NamedTuple):
    """A project's wiki and the caller's access; without a repository until the wiki is used for the first time."""

    access: Access
    project: Project
    repository: Repository | None


def may_read_wiki(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Users who can see the project, if it has a wiki."""
    return context.project.wiki_enabled and policy.may_see_project(actor, access, context.project)


def may_write_wiki(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Developers, if the project has a wiki and is not archived."""
    return context.project.wiki_enabled and policy.may_write_project(actor, access, context.project)


def may_delete_page(actor: Actor, access: Access, context: WikiContext) -> bool:
    """Maintainers, if the project has a wiki and is not archived."""
    return context.project.wiki_enabled and policy.may_change_project(actor, access, context.project)
