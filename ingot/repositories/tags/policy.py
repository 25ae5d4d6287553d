"""Permissions on releases."""

from collections.abc import Sequence

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.policy import may_push_code
from ingot.projects.projects.tables import Project
from ingot.repositories.context import RepositoryContext, may_read_code
from ingot.repositories.protection import policy as protection
from ingot.repositories.protection.tables import ProtectedTag


def may_release(actor: Actor, access: Access, project: Project, matching: Sequence[ProtectedTag]) -> bool:
    """Developers; for a protected tag, users who may create it."""
    may_tag = not matching or protection.may_create_tag(actor, access, matching)
    return may_tag and may_push_code(actor, access, project) and may_use_feature(actor, access, project, "releases")


def may_read_releases(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Users who may read the code, unless releases are disabled or for members only."""
    return may_use_feature(actor, access, context.project, "releases") and may_read_code(actor, access, context)


def may_write_releases(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Developers, unless releases are disabled or the project is archived; tags are checked when they are known."""
    return may_use_feature(actor, access, context.project, "releases") and may_push_code(actor, access, context.project)
