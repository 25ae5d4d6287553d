"""Endpoints of projects."""

from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from msgspec import UNSET

from ingot.accounts.avatars.views import avatar_response
from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.instance.outgoing_rules import guard_within
from ingot.accounts.instance.search_access import require_search_allowed
from ingot.accounts.users.commit_addresses import commit_address
from ingot.accounts.users.policy import may_see_profile
from ingot.accounts.users.queries import find_user, user_by_username_or_none, user_or_none
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import administrators, anyone, require, signed_in
from ingot.core.api.params import MissingParameter, given_fields
from ingot.core.api.routes import AlternateResponse, Call, PartialLock, PrepareContext, RawResponse, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import to_datetime
from ingot.core.errors import Invalid, NotFound
from ingot.core.events.bus import emit
from ingot.core.names import NAMESPACES
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.settings import Settings
from ingot.git.bucket.copy_cache import copies_folder
from ingot.git.core.names import ref_name_error
from ingot.git.history.commits import Signature
from ingot.git.maintenance.store import RepositoryStore, new_key, storage_of
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.groups.policy import may_create_project_in
from ingot.projects.groups.queries import find_group
from ingot.projects.imports.service import schedule_import, validate_import_url
from ingot.projects.namespaces.custom_attributes import add_custom_attributes
from ingot.projects.namespaces.group_rules import default_branch_of_group
from ingot.projects.namespaces.locks import part_of, part_of_user
from ingot.projects.namespaces.queries import namespace_by_id, namespace_of_user, namespace_or_none
from ingot.projects.namespaces.scheduled_deletion import DeleteScheduled
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects import delayed_deletion, policy, queries, service
from ingot.projects.projects.attributes import ci_settings_from_params
from ingot.projects.projects.events import ProjectInitialized
from ingot.projects.projects.initial_commit import commit_readme
from ingot.projects.projects.jobs import delete_unused_repository
from ingot.projects.projects.locks import project_path_by_id
from ingot.projects.projects.option_rules import changes_role_of_owners
from ingot.projects.projects.params import (
    CreateProject,
    EditProject,
    EditProjectRequest,
    GetProject,
    ListProjects,
    ProjectAttributes,
    TransferProject,
)
from ingot.projects.projects.ports import StorageMoves
from ingot.projects.projects.readme import readme_path
from ingot.projects.projects.setting_records import ci_values, record_project_changes, record_project_values
from ingot.projects.projects.storages import storage_for_new_repository
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import (
    ProjectView,
    SimpleProjectView,
    instance_urls,
    project_view,
    project_views,
    simple_view,
)

routes = Routes("projects")


def project_in_path(call: Call) -> tuple[Access, Project]:
    """Find the project that the path names by id or full path; raise Denied for a change of a scheduled one."""
    access, project = queries.find_project(call.db, call.actor, call.path["id"])
    if call.changes:
        service.require_writable_project(call.db, project)
    return access, project


def project_lookup_in_path(call: Call) -> tuple[Access, policy.ProjectLookup]:
    """Find the project in the path together with the caller's access; used by the most frequent endpoint."""
    lookup = queries.find_project_lookup(call.db, call.actor, call.path["id"])
    return lookup.access, lookup


def repository_store(settings: Settings) -> RepositoryStore:
    """Return the store of all repositories of the instance."""
    return _store_at(
        settings.data, settings.repository_storages, settings.repository_cache, settings.run, settings.max_refs
    )


@lru_cache(64)
def _store_at(data: Path, storages: str, cache: str, run: Path, max_refs: int) -> RepositoryStore:
    settings = Settings(data=data, repository_storages=storages, repository_cache=cache)
    others, in_bucket = settings.storage_directories, settings.storage_in_bucket
    cached = others.get(in_bucket)
    if cached is not None:
        others[in_bucket] = copies_folder(run, cached)
    return RepositoryStore(data / "repositories", others, max_refs, in_bucket, cached)


def project_page(call: Call, listing: Listing[Project], params: ListProjects) -> Listing[SimpleProjectView]:
    """Return a page of projects in the form that the parameters request."""
    urls = instance_urls(call.db, call.origin, call.settings)
    if params.simple:
        return listing.of([simple_view(project, urls) for project in listing.items])
    views = project_views(call.db, call.actor, listing.items, urls, statistics=params.statistics)
    if params.with_custom_attributes:
        add_custom_attributes(call.db, call.actor, "project", views)
    return listing.of(list[SimpleProjectView](views))


def project_response(call: Call, project: Project) -> ProjectView:
    """Return a project as the caller may see it."""
    lookup = queries.find_project_lookup(call.db, call.actor, project.id)
    return project_view(call.db, call.actor, lookup, instance_urls(call.db, call.origin, call.settings))


@routes.get("/projects", may=anyone, returns=list[ProjectView | SimpleProjectView], cached=True)
def list_projects(call: Call, params: ListProjects, page: Page) -> Listing[SimpleProjectView]:
    """List the projects that the caller may see."""
    if params.search:
        require_search_allowed(call.db, call.actor)
    return project_page(call, queries.list_projects(call.db, call.actor, params, page), params)


@routes.get("/users/:user_id/projects", may=anyone, returns=list[ProjectView | SimpleProjectView], cached=True)
def list_user_projects(call: Call, params: ListProjects, page: Page) -> Listing[SimpleProjectView]:
    """List the projects in a user's personal namespace."""
    name = call.path["user_id"]
    user = user_or_none(call.db, name) or user_by_username_or_none(call.db, name)
    if user is None:
        raise NotFound("User")
    if not may_see_profile(call.actor, user):
        return Listing([], page, 0)
    return project_page(
        call, queries.list_projects(call.db, call.actor, params, page, "of_user", owner=user.id), params
    )


@routes.get("/projects/search/:query", may=anyone, returns=list[ProjectView | SimpleProjectView])
def search_projects(call: Call, params: ListProjects, page: Page) -> Listing[SimpleProjectView]:
    """List the projects whose name contains a text."""
    require_search_allowed(call.db, call.actor)
    return project_page(
        call, queries.search_projects_by_name(call.db, call.actor, call.path["query"], params, page), params
    )


@routes.get(
    "/projects/:id",
    on=project_lookup_in_path,
    may=policy.may_see_project_lookup,
    returns=ProjectView,
    open=True,
    cached=True,
)
def get_project(call: Call, lookup: policy.ProjectLookup, params: GetProject) -> ProjectView:
    """Get a project."""
    urls = instance_urls(call.db, call.origin, call.settings)
    options = {"statistics": params.statistics, "ci_settings": params.ci_settings}
    view = project_view(call.db, call.actor, lookup, urls, **options)
    # Only in this endpoint: responses to writes must not depend on a read from git.
    if policy.may_download_code(call.actor, lookup.access, lookup.project):
        path = readme_path(repository_store(call.settings), lookup.project)
        if path is not None:
            view.readme_url = f"{view.web_url}/-/blob/{quote(lookup.project.default_branch)}/{quote(path)}"
    if params.with_custom_attributes:
        add_custom_attributes(call.db, call.actor, "project", [view])
    return view


class NewRepository(NamedTuple):
    """Repository of a project whose row does not exist yet, with its first commit if it has one."""

    key: str
    branch: str
    begun: RefUpdate | None


def _create_repository(context: PrepareContext, params: CreateProject) -> NewRepository:
    """Create the repository before the transaction; it is deleted if the request fails."""
    chosen = context.database.read(partial(_default_branch, namespace_id=params.namespace_id))
    branch = params.default_branch or chosen or context.settings.default_branch
    if ref_name_error(branch):
        raise Invalid(default_branch=["is invalid"])
    if params.name is UNSET and params.path is UNSET:
        raise MissingParameter("name")
    _check_import_url(context.database.read(partial(guard_within, settings=context.settings)), params)
    with_readme = params.initialize_with_readme and not params.import_url
    author = _first_commit_author(context) if with_readme else None
    store = repository_store(context.settings)
    key = new_key(storage_for_new_repository(context.database, store))
    store.create(key, branch)
    context.undo.append(partial(delete_unused_repository, context.database, store, key))
    if author is None:
        return NewRepository(key, branch, None)
    name, description = (params.name or params.path or "").strip(), params.description or ""
    return NewRepository(key, branch, commit_readme(store.open(key), branch, name, description, author))


def _default_branch(db: Connection, namespace_id: int | str | None) -> str | None:
    """Return the default branch of new projects that the group or the instance chooses."""
    namespace = None if namespace_id is None else namespace_or_none(db, str(namespace_id))
    chosen = None if namespace is None else default_branch_of_group(db, namespace.id)
    return chosen or all_settings(db).default_branch_name


def _check_import_url(guard: SsrfGuard, params: CreateProject | EditProject) -> None:
    if params.import_url:
        validate_import_url(params.import_url, guard)


def _first_commit_author(context: PrepareContext) -> Signature:
    """Return the owner of the new project as the author of its first commit."""

    def read(db: Connection) -> tuple[str, str]:
        user = find_user(db, context.path.get("user_id", context.actor.user_id))
        return user.name, commit_address(db, user)

    return Signature(*context.database.read(read), int(to_datetime(context.database.clock()).timestamp()), 0)


def _namespace_of_new_project(call: Call, params: CreateProject) -> list[str]:
    if params.namespace_id is None:
        return part_of_user(call.db, call.actor.user_id)
    return part_of(call.db, str(params.namespace_id))


def _has_topics(params: ProjectAttributes) -> bool:
    return params.topics is not UNSET or params.tag_list is not UNSET


def _moves_or_publishes(params: EditProject) -> bool:
    """Return whether an edit concerns other namespaces: those of forks, of topics, or former paths."""
    return _has_topics(params) or any(each is not UNSET for each in (params.name, params.path, params.visibility))


_NEW_PROJECT_LOCK = PartialLock(NAMESPACES, _namespace_of_new_project, _has_topics)
_EDIT_LOCK = PartialLock(
    NAMESPACES, lambda call, _: part_of(call.db, call.path["id"], project_path_by_id), _moves_or_publishes
)


@routes.post("/projects", may=signed_in, returns=ProjectView, prepare=_create_repository, locks=_NEW_PROJECT_LOCK)
def create_project(call: Call, params: CreateProject, repository: NewRepository) -> ProjectView:
    """Create a project."""
    namespace = _target_namespace(call.db, call.actor, params.namespace_id)
    return project_response(call, _create(call.db, call.actor, params, namespace, repository))


@routes.post(
    "/projects/user/:user_id", may=administrators, returns=ProjectView, prepare=_create_repository, locks=NAMESPACES
)
def create_project_for_user(call: Call, params: CreateProject, repository: NewRepository) -> ProjectView:
    """Create a project for a user."""
    if params.name is UNSET:
        raise MissingParameter("name")
    user = find_user(call.db, call.path["user_id"])
    namespace = namespace_of_user(call.db, user.id)
    if params.namespace_id is not None:
        namespace = _target_namespace(call.db, call.actor, params.namespace_id)
    creator = Actor(user_id=user.id, username=user.username, name=user.name, admin=True)
    return project_response(call, _create(call.db, creator, params, namespace, repository))


def _create(
    db: Connection, creator: Actor, params: CreateProject, namespace: Namespace, repository: NewRepository
) -> Project:
    project = service.create_project(db, creator, params, namespace, repository.key, repository.branch)
    if repository.begun is not None:
        emit(db, ProjectInitialized(project.id, creator.user_id, repository.begun))
    if params.import_url:
        schedule_import(db, project, params.import_url)
        if getattr(params, "mirror", UNSET) is True:
            service.edit_mirror(db, creator, project, params)
    return project


@routes.put("/projects/:id", on=project_in_path, may=policy.may_edit_project, returns=ProjectView, locks=_EDIT_LOCK)
def edit_project(call: Call, project: Project, params: EditProjectRequest) -> ProjectView:
    """Edit a project."""
    renames = params.name not in (UNSET, project.name) or params.visibility not in (UNSET, project.visibility)
    if renames or changes_role_of_owners(given_fields(params), project.ci_options):
        access, _ = project_in_path(call)
        require(policy.may_own_project(call.actor, access, project))
    _check_import_url(guard_within(call.db, call.settings), params)
    ci_before = ci_values(call.db, project) if ci_settings_from_params(params) else None
    edited = service.edit_project(call.db, call.actor, project, params)
    storage = storage_of(project.repository_key)
    if call.actor.admin and params.repository_storage not in (UNSET, storage):
        storages = repository_store(call.settings).roots
        call.db.ports[StorageMoves].schedule(call.db, edited, params.repository_storage, storages)
        chosen = {"repository_storage": params.repository_storage}
        record_project_values(call, edited, {"repository_storage": storage}, chosen)
    if params.default_branch is not UNSET and params.default_branch is not None:
        edited = service.set_default_branch(call.db, edited, repository_store(call.settings), params.default_branch)
    record_project_changes(call, project, edited)
    if ci_before is not None:
        record_project_values(call, edited, ci_before, ci_values(call.db, edited))
    return project_response(call, edited)


@routes.delete(
    "/projects/:id",
    on=project_in_path,
    may=policy.may_own_project,
    returns=None,
    instead={202: dict[str, str]},
    locks=NAMESPACES,
    on_scheduled=True,
)
def delete_project(call: Call, project: Project, params: DeleteScheduled) -> AlternateResponse | None:
    """Delete a project with everything in it, now or after the period of the instance."""
    scheduled = delayed_deletion.request_project_deletion(call.db, call.actor, project, params)
    return AlternateResponse(202, {"message": "202 Accepted"}) if scheduled else None


@routes.post(
    "/projects/:id/restore",
    on=project_in_path,
    may=policy.may_own_project,
    returns=ProjectView,
    locks=NAMESPACES,
    on_scheduled=True,
)
def restore_project(call: Call, project: Project) -> ProjectView:
    """Take back the scheduled deletion of a project."""
    restored = delayed_deletion.restore_project(call.db, call.actor, project)
    record_project_changes(call, project, restored)
    return project_response(call, restored)


@routes.post("/projects/:id/archive", on=project_in_path, may=policy.may_own_project, returns=ProjectView)
def archive_project(call: Call, project: Project) -> ProjectView:
    """Archive a project, which makes it read-only."""
    archived = service.archive_project(call.db, project, True)
    record_project_changes(call, project, archived)
    return project_response(call, archived)


@routes.post("/projects/:id/unarchive", on=project_in_path, may=policy.may_own_project, returns=ProjectView)
def unarchive_project(call: Call, project: Project) -> ProjectView:
    """Unarchive a project, which makes it writable again."""
    unarchived = service.archive_project(call.db, project, False)
    record_project_changes(call, project, unarchived)
    return project_response(call, unarchived)


@routes.get("/projects/:id/avatar", on=project_in_path, may=policy.may_see_project, returns=RawResponse)
def get_project_avatar(call: Call, project: Project) -> RawResponse:
    """Get the avatar of a project."""
    return avatar_response(call.db, project.avatar_id)


@routes.put(
    "/projects/:id/transfer", on=project_in_path, may=policy.may_transfer_project, returns=ProjectView, locks=NAMESPACES
)
def transfer_project(call: Call, project: Project, params: TransferProject) -> ProjectView:
    """Move a project to another namespace."""
    namespace = namespace_or_none(call.db, params.namespace)
    if namespace is None or not may_create_in(call.db, call.actor, namespace):
        raise NotFound("Namespace")
    return project_response(call, service.transfer_project(call.db, call.actor, project, namespace))


@routes.get(
    "/projects/:id/languages", on=project_in_path, may=policy.may_download_code, returns=dict[str, float], heavy=True
)
def get_languages(call: Call, project: Project) -> dict[str, float]:
    """Get the languages of a project's default branch, in percent."""
    return repository_store(call.settings).open(project.repository_key).languages()


@routes.post("/projects/:id/housekeeping", on=project_in_path, may=policy.may_change_project, returns=dict[str, Any])
def start_housekeeping(call: Call, project: Project) -> dict[str, Any]:
    """Enqueue the housekeeping of a project's repository."""
    service.enqueue_housekeeping(call.db, project)
    return {}


def _target_namespace(db: Connection, actor: Actor, namespace_id: int | None) -> Namespace:
    """Return the namespace for a new project; raise the same error for missing and forbidden namespaces."""
    own = namespace_of_user(db, actor.user_id)
    if namespace_id is None or namespace_id == own.id:
        require(not actor.external)
        return own
    namespace = namespace_or_none(db, str(namespace_id))
    if namespace is None or not may_create_in(db, actor, namespace):
        raise Invalid(namespace=["is not valid"])
    return namespace_by_id(db, namespace.id)


def may_create_in(db: Connection, actor: Actor, namespace: Namespace) -> bool:
    """Check whether the caller may create projects in a namespace.

    True for the personal namespace, for groups in which the caller has the required level, and for administrators.
    """
    if actor.admin:
        return True
    if namespace.kind == "user":
        return namespace.owner_id == actor.user_id and not actor.external
    try:
        access, group = find_group(db, actor, namespace.id)
    except NotFound:
        return False
    return may_create_project_in(actor, access, group)
