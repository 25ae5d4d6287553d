"""Boundaries of tokens with fine-grained permissions: the projects and groups that a permission covers."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.access.restrictions import GranularScope
from ingot.core.db.connection import Connection
from ingot.projects.namespaces.queries import ancestor_ids

_ELSEWHERE = ("user", "instance")
"""Boundaries of calls that name no project or group in their path; what they reach is up to the user's rights."""


def is_project_within(
    db: Connection, actor: Actor, access: Access, project_id: int, namespace_id: int, full_path: str
) -> bool:
    """Return whether the permission for the current call covers a project."""
    namespace = full_path.rpartition("/")[0].lower()
    return any(
        _reaches(db, scope, access, namespace_id)
        or project_id in scope.project_ids
        or (scope.access == "personal_projects" and namespace == actor.username.lower())
        for scope in actor.boundary
    )


def is_group_within(db: Connection, actor: Actor, access: Access, group_id: int) -> bool:
    """Return whether the permission for the current call covers a group."""
    return any(_reaches(db, scope, access, group_id) for scope in actor.boundary)


def _reaches(db: Connection, scope: GranularScope, access: Access, namespace_id: int) -> bool:
    if scope.access in _ELSEWHERE or (scope.access == "all_memberships" and access.level > Level.NONE):
        return True
    return bool(scope.group_ids) and not set(scope.group_ids).isdisjoint(ancestor_ids(db, namespace_id))
