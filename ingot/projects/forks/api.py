"""Endpoints of forks."""

from functools import partial

from ingot.core.access.actor import Actor
from ingot.core.access.rules import administrators, require
from ingot.core.api.routes import Call, PartialLock, PrepareContext, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Conflict, Denied, NotFound, Unchanged
from ingot.core.names import NAMESPACES
from ingot.git.maintenance.store import new_key, storage_of
from ingot.projects.forks import service
from ingot.projects.namespaces.group_rules import require_fork_allowed
from ingot.projects.namespaces.locks import part_of, part_of_user
from ingot.projects.namespaces.queries import namespace_of_user, namespace_or_none
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects import policy
from ingot.projects.projects.api import may_create_in, project_in_path, project_page, project_response, repository_store
from ingot.projects.projects.jobs import delete_unused_repository
from ingot.projects.projects.params import ForkProject, ListProjects
from ingot.projects.projects.queries import find_project, list_projects
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import ProjectView, SimpleProjectView

routes = Routes("projects")


def _fork_repository(context: PrepareContext, params: ForkProject) -> tuple[str, str]:
    """Copy the repository before the transaction, after a permission check; it is deleted if the request fails.

    If a job is to copy it, an empty repository is created in its place.
    """

    def find_source(db: Connection) -> Project:
        access, project = find_project(db, context.actor, context.path["id"])
        require(policy.may_fork_project(context.actor, access, project))
        _target_namespace(db, context.actor, params, project)
        return project

    store = repository_store(context.settings)
    source = context.database.read(find_source, ahead_of_change=True)
    # In the storage of the source, where both can share files.
    key = new_key(storage_of(source.repository_key))
    if params.by_job:
        store.create(key, source.default_branch)
    else:
        store.fork(source.repository_key, key)
    context.undo.append(partial(delete_unused_repository, context.database, store, key))
    # Read HEAD of the copy: the default branch in the source's row may change before the transaction.
    return key, store.head_branch(key)


def _namespace_of_fork(call: Call, params: ForkProject) -> list[str]:
    """Return the part of the lock for the target; moves, deletions and visibility of the source need the whole lock."""
    target = _target_name(params)
    return part_of(call.db, target) if target else part_of_user(call.db, call.actor.user_id)


@routes.post(
    "/projects/:id/fork",
    on=project_in_path,
    may=policy.may_fork_project,
    returns=ProjectView,
    prepare=_fork_repository,
    locks=PartialLock(NAMESPACES, _namespace_of_fork),
)
def fork_project(call: Call, project: Project, params: ForkProject, repository: tuple[str, str]) -> ProjectView:
    """Fork a project; the repository is copied before the response, unless a job was requested."""
    namespace = _target_namespace(call.db, call.actor, params, project)
    return project_response(call, service.fork_project(call.db, call.actor, project, params, namespace, repository))


@routes.get(
    "/projects/:id/forks", on=project_in_path, may=policy.may_see_project, returns=list[ProjectView | SimpleProjectView]
)
def list_forks(call: Call, project: Project, params: ListProjects, page: Page) -> Listing[SimpleProjectView]:
    """List the forks of a project that the caller may see."""
    listing = list_projects(call.db, call.actor, params, page, "forks", forked_from=project.id)
    return project_page(call, listing, params)


@routes.post(
    "/projects/:id/fork/:forked_from_id", on=project_in_path, may=administrators, returns=ProjectView, locks=NAMESPACES
)
def set_fork_relation(call: Call, project: Project) -> ProjectView:
    """Mark a project as a fork of another project."""
    require(not project.archived)
    _, source = find_project(call.db, call.actor, call.path["forked_from_id"])
    if project.forked_from_id is not None:
        raise Conflict("Project already forked")
    return project_response(call, service.set_fork_relation(call.db, project, source))


@routes.delete("/projects/:id/fork", on=project_in_path, may=administrators, returns=None, locks=NAMESPACES)
def delete_fork_relation(call: Call, project: Project) -> None:
    """Remove the fork relation of a project; 304 if there is none."""
    if project.forked_from_id is None:
        raise Unchanged
    require(not project.archived)
    service.delete_fork_relation(call.db, project)


def _target_namespace(db: Connection, actor: Actor, params: ForkProject, source: Project) -> Namespace:
    target = _target_name(params)
    if target:
        namespace = namespace_or_none(db, target)
        if namespace is None or not may_create_in(db, actor, namespace):
            raise NotFound("Target Namespace")
    elif actor.external:
        raise Denied
    else:
        namespace = namespace_of_user(db, actor.user_id)
    require_fork_allowed(db, source.namespace_id, namespace.id)
    return namespace


def _target_name(params: ForkProject) -> str:
    """Return the id or path of the namespace that the caller has chosen; empty for that of the caller."""
    return str(params.namespace or params.namespace_path or params.namespace_id or "")
