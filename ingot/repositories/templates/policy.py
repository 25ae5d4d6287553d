"""Permissions on the templates that a project offers."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_see_project
from ingot.repositories.context import RepositoryContext, may_read_code


class ProjectTemplates(NamedTuple):
    """The templates of one type in a project."""

    kind: str
    context: RepositoryContext


def may_read_templates(actor: Actor, access: Access, templates: ProjectTemplates) -> bool:
    """Users with permission to download the code; templates of issues are for everyone who sees the project."""
    if templates.kind == "issues":
        return may_see_project(actor, access, templates.context.project)
    return may_read_code(actor, access, templates.context)
