"""Permissions on pipelines; reading statuses requires access to the code, posting them permission to
push, and on a protected branch or tag permission to update it."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.pipelines.policy import may_read_project_pipelines
from ingot.projects.projects.policy import may_download_code
from ingot.repositories.context import RepositoryContext


def may_read_pipelines(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Users with permission to read the code, and guests if the project has public jobs."""
    return may_read_project_pipelines(actor, access, context.project)


def may_read_statuses(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Users with permission to read the code, unless pipelines are for members only."""
    return may_read_pipelines(actor, access, context) and may_download_code(actor, access, context.project)
