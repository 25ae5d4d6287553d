"""Projects and groups as clients of packages see them.

A caller who is no user gets 401 where a user gets 404, because clients send their credentials only when asked for them.
"""

from msgspec.structs import replace

from ingot.core.access.actor import ANONYMOUS, Actor, DeployTokenIdentity
from ingot.core.access.levels import Access, Level
from ingot.core.api.routes import Call
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, NotFound, Unauthenticated
from ingot.projects.groups.queries import find_group
from ingot.projects.namespaces.queries import ancestor_ids
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

READ_SCOPES = {"packages": "read_package_registry", "images": "read_registry"}
WRITE_SCOPES = {"packages": "write_package_registry", "images": "write_registry"}


def package_project_in_path(call: Call) -> tuple[Access, Project]:
    """Find the project in the path for a client that reads."""
    return find_client_project(call.db, call.actor, call.path["id"])


def writable_project_in_path(call: Call) -> tuple[Access, Project]:
    """Find the project in the path for a client that writes."""
    return find_writable_project(call.db, call.actor, call.path["id"])


def find_writable_project(db: Connection, actor: Actor, name: str | int) -> tuple[Access, Project]:
    """Return a project for a client that writes; raise Unauthenticated for anonymous callers."""
    if not actor.known and actor.deploy_token is None:
        raise Unauthenticated
    return find_client_project(db, actor, name)


def find_client_project(
    db: Connection, actor: Actor, name: str | int, kind: str = "packages"
) -> tuple[Access, Project]:
    """Return the caller's access and the project with this id or path; raise NotFound or Unauthenticated."""
    try:
        if actor.deploy_token is not None:
            return _find_by_deploy_token(db, actor, actor.deploy_token, name, kind)
        return find_project(db, actor, name)
    except NotFound:
        if actor.known:
            raise
        raise Unauthenticated from None


def package_group_in_path(call: Call) -> tuple[Access, Namespace]:
    """Find the group in the path for a client that reads."""
    token = call.actor.deploy_token
    try:
        if token is None or token.group_id is None:
            return find_group(call.db, call.actor, call.path["id"])
        _, group = find_group(call.db, _any_owner(call.actor), call.path["id"])
        if token.group_id not in ancestor_ids(call.db, group.id):
            raise NotFound("Group")
        return _access_by_scopes(token, "packages"), group
    except NotFound:
        if call.actor.known:
            raise
        raise Unauthenticated from None


def _find_by_deploy_token(
    db: Connection, actor: Actor, token: DeployTokenIdentity, name: str | int, kind: str
) -> tuple[Access, Project]:
    _, project = find_project(db, _any_owner(actor), name)
    if token.project_id != project.id and token.group_id not in ancestor_ids(db, project.namespace_id):
        return find_project(db, replace(ANONYMOUS, closed_groups=actor.closed_groups), name)
    return _access_by_scopes(token, kind), project


def _any_owner(actor: Actor) -> Actor:
    """Return an actor who finds every project and group that the caller's address may use.

    Only for deploy tokens, which belong to projects and groups and not to users.
    """
    return Actor(admin=True, closed_groups=actor.closed_groups)


def _access_by_scopes(token: DeployTokenIdentity, kind: str) -> Access:
    """Return the access that the scopes of a deploy token give; raise Denied if they give none."""
    if WRITE_SCOPES[kind] in token.scopes:
        return Access(level=Level.DEVELOPER)
    if READ_SCOPES[kind] in token.scopes:
        return Access(level=Level.REPORTER)
    raise Denied
