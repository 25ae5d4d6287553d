"""State changes of projects: creation, editing, transfer, archiving and deletion."""

from functools import partial
from typing import Any

from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, delete

from ingot.accounts.avatars.service import delete_avatar, replace_avatar
from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.instance.mirror_access import require_mirrors_available
from ingot.accounts.instance.settings import InstanceSettings, current_settings
from ingot.core.access.actor import Actor
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Denied, Invalid
from ingot.core.events.bus import emit
from ingot.core.jobs.queue import enqueue
from ingot.core.names import NAMESPACES
from ingot.git.core.names import ref_name_error
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.head import can_be_head, head_or_none
from ingot.projects.groups.service import VISIBILITY_ORDER
from ingot.projects.members.service import delete_memberships, move_memberships, write_membership
from ingot.projects.namespaces.group_options import require_artifacts_size
from ingot.projects.namespaces.group_rules import (
    may_use_shared_runners,
    require_no_deletion_around,
    require_shared_runners_allowed,
    require_writable_group,
    shared_runners_by_default,
)
from ingot.projects.namespaces.queries import namespace_by_id
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.attributes import (
    check_not_placeholder_namespace,
    check_projects_limit,
    check_visibility,
    ci_settings_from_params,
    columns_from_params,
    default_columns,
    default_visibility,
    options_from_params,
    path_from_name,
    require_available_name,
    validate_project,
)
from ingot.projects.projects.default_branch import RECONCILE_HEAD, head_job_key, reconcile_head
from ingot.projects.projects.deletion import REMOVAL_KEY
from ingot.projects.projects.events import (
    ProjectCiSettingsEdited,
    ProjectCreated,
    ProjectDeleted,
    ProjectEdited,
    ProjectMirrorEdited,
    ProjectMoved,
)
from ingot.projects.projects.options import edited_options
from ingot.projects.projects.params import CreateProject, EditProject, ProjectAttributes
from ingot.projects.projects.ports import BranchDeletions
from ingot.projects.projects.queries import existing_project, member_source, more_open_forks
from ingot.projects.projects.tables import Project, project_redirects, projects, shares
from ingot.projects.projects.topics import set_topics

MASTER = 40
REMOVE_PROJECT = "remove_project"
HOUSEKEEP_PROJECT = "housekeep_project"
REMOVE_REPOSITORY = "remove_repository"
UPDATE_PROJECT_STATISTICS = "update_project_statistics"
_DELETE_REDIRECT = delete(project_redirects).where(
    project_redirects.c.namespace_id == bindparam("namespace"), project_redirects.c.path_key == bindparam("path")
)
_DELETE_SHARES = delete(shares).where(shares.c.project_id == bindparam("project"))


def create_project(
    db: Connection,
    actor: Actor,
    params: CreateProject,
    namespace: Namespace,
    repository_key: str,
    default_branch: str,
    **more: Any,
) -> Project:
    """Create a project with an existing repository; the owner of a personal namespace becomes a master."""
    db.must_hold_part(NAMESPACES)
    name = (params.name or params.path or "").strip()
    path = params.path or path_from_name(name)
    settings = current_settings(db)
    columns = columns_from_params(params)
    columns.setdefault("ci_config_path", all_settings(db).default_ci_config_path or None)
    columns.setdefault("visibility", default_visibility(settings.default_project_visibility, namespace))
    check_not_placeholder_namespace(db, namespace)
    require_no_deletion_around(db, namespace)
    check_projects_limit(db, actor, namespace)
    validate_project(name, path, columns)
    check_visibility(db, actor, columns["visibility"], namespace)
    if columns.setdefault("shared_runners_enabled", _uses_shared_runners(db, settings, namespace)):
        require_shared_runners_allowed(db, namespace.id)
    columns.setdefault("lfs_enabled", namespace.lfs_enabled)
    require_artifacts_size(actor, given_fields(params), None)
    columns["options_document"] = options_from_params(params, _first_options(db, namespace), db.now)
    full_path = f"{namespace.full_path}/{path}"
    require_available_name(db, namespace, name, path)
    delete_redirect(db, namespace, path)
    project_id = db.insert(
        projects,
        **{
            "namespace_id": namespace.id,
            "creator_id": actor.user_id,
            "name": name,
            "name_key": name.casefold(),
            "path": path,
            "path_key": path.lower(),
            "full_path": full_path,
            "full_path_key": full_path.lower(),
            "default_branch": default_branch,
            "repository_key": repository_key,
            **default_columns(db, settings),
            **columns,
            **more,
        },
    )
    project = existing_project(db, project_id)
    set_topics(db, project, params)
    _set_avatar(db, project, params.avatar)
    emit(db, ProjectCreated(project_id=project_id, actor_id=actor.user_id, forked_from_id=project.forked_from_id))
    _set_ci_settings(db, project, params)
    # Subscribers must receive the event of the project before that of its first member.
    if namespace.kind == "user":
        write_membership(db, member_source(project), namespace.owner_id or actor.user_id, MASTER)
    return existing_project(db, project_id)


def edit_project(db: Connection, actor: Actor, project: Project, params: EditProject) -> Project:
    """Change the given fields; a new path moves the project and leaves a redirect."""
    db.must_hold_part(NAMESPACES)
    columns = columns_from_params(params)
    namespace = namespace_by_id(db, project.namespace_id)
    name = params.name.strip() if params.name is not UNSET else project.name
    path = params.path if params.path is not UNSET else project.path
    validate_project(name, path, columns)
    visibility = columns.get("visibility", project.visibility)
    if visibility != project.visibility:
        check_visibility(db, actor, visibility, namespace, project.forked_from_id)
    require_available_name(db, namespace, name, path, except_id=project.id)
    if columns.get("shared_runners_enabled") and not project.shared_runners_enabled:
        require_shared_runners_allowed(db, namespace.id)
    require_artifacts_size(actor, given_fields(params), project.ci_options.max_artifacts_size)
    columns["options_document"] = options_from_params(params, project.options_document, db.now)
    db.update(projects, project.id, **columns, name=name, name_key=name.casefold(), updated_at=db.now)
    set_topics(db, project, params)
    _set_avatar(db, project, params.avatar)
    _set_ci_settings(db, project, params)
    edit_mirror(db, actor, project, params)
    if path != project.path:
        _move_project(db, project, namespace, path)
    else:
        emit(db, ProjectEdited(project.id))
    lower_fork_visibility(db, project.id, visibility)
    return existing_project(db, project.id)


def _uses_shared_runners(db: Connection, settings: InstanceSettings, namespace: Namespace) -> bool:
    return settings.shared_runners_enabled and shared_runners_by_default(db, namespace.id)


def _first_options(db: Connection, namespace: Namespace) -> str:
    """Return the options with which a project begins: the push rule of the nearest group that has one."""
    group: Namespace | None = namespace
    while group is not None and group.kind == "group":
        if group.options.push_rule is not None:
            return edited_options("{}", {"push_rule": group.options.push_rule})
        group = namespace_by_id(db, group.parent_id) if group.parent_id is not None else None
    return "{}"


def _set_ci_settings(db: Connection, project: Project, params: ProjectAttributes) -> None:
    settings = ci_settings_from_params(params)
    if settings:
        emit(db, ProjectCiSettingsEdited(project.id, settings))


def edit_mirror(db: Connection, actor: Actor, project: Project, params: CreateProject | EditProject) -> None:
    """Announce that a project follows another repository, or no longer; the URL has been checked."""
    mirror: bool | UnsetType = getattr(params, "mirror", UNSET)
    if mirror is True:
        require_mirrors_available(db, actor)
    if mirror is not UNSET or params.import_url is not UNSET:
        enabled = None if mirror is UNSET else mirror
        emit(db, ProjectMirrorEdited(project.id, actor.user_id, enabled, params.import_url or None))


def transfer_project(db: Connection, actor: Actor, project: Project, namespace: Namespace) -> Project:
    """Move a project to another namespace; leaves a redirect and lowers the visibility to that of the group."""
    db.must_hold(NAMESPACES)
    if namespace.id == project.namespace_id:
        raise Invalid("Transfer failed: Project is already in this namespace.")
    check_not_placeholder_namespace(db, namespace)
    require_no_deletion_around(db, namespace)
    check_projects_limit(db, actor, namespace)
    try:
        require_available_name(db, namespace, project.name, project.path, except_id=project.id)
    except Invalid as error:
        reason = "Transfer failed: Project with same name or path in target namespace already exists"
        raise Invalid(reason) from error
    _move_project(db, project, namespace, project.path)
    move_memberships(db, member_source(project), namespace.id)
    if namespace.kind == "group" and VISIBILITY_ORDER[project.visibility] > VISIBILITY_ORDER[namespace.visibility]:
        lower_visibility(db, project.id, namespace.visibility)
    if project.shared_runners_enabled and not may_use_shared_runners(db, namespace.id):
        db.update(projects, project.id, shared_runners_enabled=False)
    return existing_project(db, project.id)


def lower_visibility(db: Connection, project_id: int, visibility: str) -> None:
    """Lower the visibility of a project and its forks."""
    db.update(projects, project_id, visibility=visibility, updated_at=db.now)
    lower_fork_visibility(db, project_id, visibility)


def lower_fork_visibility(db: Connection, project_id: int, visibility: str) -> None:
    """Lower the visibility of forks that are more visible than their source."""
    more_open = more_visible_than(visibility)
    for fork_id in more_open_forks(db, project_id, more_open) if more_open else ():
        lower_visibility(db, fork_id, visibility)


def more_visible_than(visibility: str) -> list[str]:
    """Return the visibilities that are higher than this one."""
    return [name for name, rank in VISIBILITY_ORDER.items() if rank > VISIBILITY_ORDER[visibility]]


def require_writable_project(db: Connection, project: Project) -> None:
    """Raise Denied if a project or a group above it is scheduled for deletion, which makes it read-only."""
    if not project.archived:  # All projects that are scheduled are archived, also by a group above.
        return
    if project.options.marked_for_deletion_on is not None:
        raise Denied("The project is scheduled for deletion and read-only")
    require_writable_group(db, namespace_by_id(db, project.namespace_id))


def archive_project(db: Connection, project: Project, archived: bool) -> Project:
    """Archive a project, which makes it read-only, or unarchive it."""
    if project.archived != archived:
        db.update(projects, project.id, archived=archived, updated_at=db.now, last_activity_at=db.now)
    return existing_project(db, project.id)


def delete_project(db: Connection, project: Project) -> None:
    """Hide a project and free its path; a job removes its rows and files."""
    db.must_hold(NAMESPACES)
    emit(db, ProjectDeleted(project_id=project.id, repository_key=project.repository_key))
    delete_memberships(db, member_source(project))
    db.run(_DELETE_SHARES, project=project.id)
    # Paths of projects never contain two slashes in a row, so this key is unique.
    db.update(projects, project.id, namespace_id=None, full_path_key=f"deleted//{project.id}", updated_at=db.now)
    delete_avatar(db, project.avatar_id)
    if project.forked_from_id is not None:
        add_to_forks_count(db, project.forked_from_id, -1)
    payload = {"project_id": project.id, "repository_key": project.repository_key}
    enqueue(db, REMOVE_PROJECT, payload, unique_key=f"{REMOVAL_KEY}{project.id}")


def set_default_branch(db: Connection, project: Project, store: RepositoryStore, branch: str) -> Project:
    """Change the default branch; raise Invalid if it does not exist, except in an empty repository.

    HEAD is updated after the commit of the row; the job repeats this if a crash prevented it.
    """
    repository = store.open(project.repository_key)
    if ref_name_error(branch) or not can_be_head(repository, branch):
        raise Invalid(default_branch=["does not exist"])
    if branch == project.default_branch == head_or_none(repository):
        return project
    db.update(projects, project.id, default_branch=branch)
    # The row is locked from here on: a later deletion of the branch waits for it, an earlier one is found here.
    if not can_be_head(repository, branch):
        raise Invalid(default_branch=["does not exist"])
    if db.ports[BranchDeletions].is_pending(db, project.id, branch):
        raise Invalid(default_branch=["does not exist"])
    enqueue(db, RECONCILE_HEAD, {"project_id": project.id}, unique_key=head_job_key(project.id))
    db.after_commit(partial(reconcile_head, store=store, project_id=project.id))
    return existing_project(db, project.id)


def enqueue_housekeeping(db: Connection, project: Project, run_at: Timestamp | None = None) -> None:
    """Enqueue the housekeeping of the repository, unless it is already queued."""
    payload = {"repository_key": project.repository_key}
    enqueue(db, HOUSEKEEP_PROJECT, payload, run_at=run_at, unique_key=f"tidy {project.id}")


def enqueue_statistics_update(db: Connection, project: Project) -> None:
    """Enqueue the update of commit count and size, unless it is already queued."""
    payload = {"repository_key": project.repository_key}
    enqueue(db, UPDATE_PROJECT_STATISTICS, payload, unique_key=f"measure {project.id}")


def add_to_forks_count(db: Connection, project_id: int, by: int) -> None:
    """Add a number to the fork count of a project."""
    db.must_hold_part(NAMESPACES)
    db.run(_COUNT_FORKS, counted=project_id, change=by)


def add_to_open_issues_count(db: Connection, project_id: int, by: int) -> None:
    """Add a number to the open issue count of a project."""
    db.run(_COUNT_OPEN_ISSUES, counted=project_id, change=by)


_COUNT_OPEN_ISSUES = (
    projects.update()
    .where(projects.c.id == bindparam("counted"))
    .values(open_issues_count=projects.c.open_issues_count + bindparam("change"))
)
_COUNT_FORKS = (
    projects.update()
    .where(projects.c.id == bindparam("counted"))
    .values(forks_count=projects.c.forks_count + bindparam("change"))
)


def delete_redirect(db: Connection, namespace: Namespace, path: str) -> None:
    """Delete the redirect from a path that is used again."""
    db.run(_DELETE_REDIRECT, namespace=namespace.id, path=path.lower())


def _move_project(db: Connection, project: Project, namespace: Namespace, path: str) -> None:
    full_path = f"{namespace.full_path}/{path}"
    if full_path.lower() != project.full_path_key:
        delete_redirect(db, namespace, path)
        db.insert_row(
            project_redirects, namespace_id=project.namespace_id, path_key=project.path_key, project_id=project.id
        )
    db.update(
        projects,
        project.id,
        namespace_id=namespace.id,
        path=path,
        path_key=path.lower(),
        full_path=full_path,
        full_path_key=full_path.lower(),
        updated_at=db.now,
    )
    emit(db, ProjectMoved(project_id=project.id, old_full_path=project.full_path))


def _set_avatar(db: Connection, project: Project, upload: Any) -> None:
    if upload is not UNSET:
        replace_avatar(db, projects, project.id, project.avatar_id, upload)
