"""Permissions on releases."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, or_

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.feature_access import has_option, may_use_feature
from ingot.projects.projects.policy import belongs_to_scanned_project, has_code, may_push_code, readable_projects
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


def visible_releases(*, external: bool) -> ColumnElement[bool]:
    """Return ``may_read_releases`` as an SQL condition for users without administrator rights."""
    readable = and_(readable_projects(external=external), releases_enabled())
    return and_(readable, or_(~has_option("releases_access_level", "private"), belongs_to_scanned_project()))


def releases_enabled() -> ColumnElement[bool]:
    """Return the condition that neither the releases of a project nor its repository are disabled."""
    return and_(has_code(), ~has_option("releases_access_level", "disabled"))


def may_write_releases(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Developers, unless releases are disabled or the project is archived; tags are checked when they are known."""
    return may_use_feature(actor, access, context.project, "releases") and may_push_code(actor, access, context.project)
