"""What changes projects: making, editing, moving and removing them."""

from functools import partial
from typing import Any

from msgspec import UNSET
from sqlalchemy import bindparam, delete

from ingot.access.actor import Actor
from ingot.avatars.service import drop_avatar, replace_avatar
from ingot.db.connection import Connection
from ingot.db.times import Timestamp
from ingot.errors import Invalid
from ingot.events.bus import emit
from ingot.git.heads import head_or_none, may_be_head
from ingot.git.names import ref_trouble
from ingot.git.store import Store
from ingot.groups.members.service import drop_all, move_all, put_member
from ingot.groups.namespaces.queries import find_by_id
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.service import OPENNESS
from ingot.instance.settings import current_settings
from ingot.jobs.queue import enqueue
from ingot.names import NAMESPACES
from ingot.projects.attributes import (
    check_limit,
    check_visibility,
    columns_of,
    default_visibility,
    first_columns,
    path_from_name,
    refuse_placeholder,
    refuse_taken,
    validate,
)
from ingot.projects.events import DefaultBranchChosen, ProjectCreated, ProjectDeleted, ProjectEdited, ProjectMoved
from ingot.projects.heads import SETTLE_HEAD, head_key, settle_head
from ingot.projects.leaving import REMOVAL_KEY
from ingot.projects.params import CreateProject, EditProject
from ingot.projects.queries import (
    more_open_forks,
    project_by_id,
    source_of,
)
from ingot.projects.tables import Project, project_redirects, projects, shares
from ingot.projects.tagging import set_topics

MASTER = 40
REMOVE_PROJECT = "remove project"
TIDY_PROJECT = "tidy project"
MEASURE_PROJECT = "measure project"
_DROP_REDIRECT = delete(project_redirects).where(
    project_redirects.c.namespace_id == bindparam("namespace"), project_redirects.c.path_key == bindparam("path")
)
_DROP_SHARES = delete(shares).where(shares.c.project_id == bindparam("project"))


def create_project(
    db: Connection,
    actor: Actor,
    wanted: CreateProject,
    namespace: Namespace,
    repository_key: str,
    default_branch: str,
    **more: Any,
) -> Project:
    """Add a project whose repository exists already; whoever makes it in their own namespace is its master."""
    db.must_hold(NAMESPACES)
    name = (wanted.name or wanted.path or "").strip()
    path = wanted.path or path_from_name(name)
    settings = current_settings(db)
    columns = columns_of(wanted)
    columns.setdefault("visibility", default_visibility(settings.default_project_visibility, namespace))
    refuse_placeholder(db, namespace)
    check_limit(db, actor, namespace)
    validate(name, path, columns)
    check_visibility(db, actor, columns["visibility"], namespace)
    full_path = f"{namespace.full_path}/{path}"
    refuse_taken(db, namespace, name, path)
    drop_redirect(db, namespace, path)
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
            **first_columns(db, settings),
            **columns,
            **more,
        },
    )
    project = project_by_id(db, project_id)
    set_topics(db, project, wanted)
    _set_avatar(db, project, wanted.avatar)
    emit(db, ProjectCreated(project_id=project_id, actor_id=actor.user_id, forked_from_id=project.forked_from_id))
    # Nobody hears who belongs to a project before they hear of the project.
    if namespace.kind == "user":
        put_member(db, source_of(project), namespace.owner_id or actor.user_id, MASTER)
    return project_by_id(db, project_id)


def edit_project(db: Connection, actor: Actor, project: Project, wanted: EditProject) -> Project:
    """Change what was sent; another path moves the project and leaves a redirect."""
    db.must_hold(NAMESPACES)
    columns = columns_of(wanted)
    namespace = find_by_id(db, project.namespace_id)
    name = wanted.name.strip() if wanted.name is not UNSET else project.name
    path = wanted.path if wanted.path is not UNSET else project.path
    validate(name, path, columns)
    visibility = columns.get("visibility", project.visibility)
    if visibility != project.visibility:
        check_visibility(db, actor, visibility, namespace, project.forked_from_id)
    refuse_taken(db, namespace, name, path, but=project.id)
    db.update(projects, project.id, **columns, name=name, name_key=name.casefold(), updated_at=db.now)
    set_topics(db, project, wanted)
    _set_avatar(db, project, wanted.avatar)
    if path != project.path:
        _move(db, project, namespace, path)
    else:
        emit(db, ProjectEdited(project.id))
    lower_forks(db, project.id, visibility)
    return project_by_id(db, project.id)


def transfer_project(db: Connection, actor: Actor, project: Project, namespace: Namespace) -> Project:
    """Put a project into another namespace; the old path leads on to it, and the new group bounds its visibility."""
    db.must_hold(NAMESPACES)
    if namespace.id == project.namespace_id:
        raise Invalid("Transfer failed: Project is already in this namespace.")
    refuse_placeholder(db, namespace)
    check_limit(db, actor, namespace)
    try:
        refuse_taken(db, namespace, project.name, project.path, but=project.id)
    except Invalid as error:
        reason = "Transfer failed: Project with same name or path in target namespace already exists"
        raise Invalid(reason) from error
    _move(db, project, namespace, project.path)
    move_all(db, source_of(project), namespace.id)
    if namespace.kind == "group" and OPENNESS[project.visibility] > OPENNESS[namespace.visibility]:
        lower_visibility(db, project.id, namespace.visibility)
    return project_by_id(db, project.id)


def lower_visibility(db: Connection, project_id: int, visibility: str) -> None:
    """Make a project less visible, and its forks with it."""
    db.update(projects, project_id, visibility=visibility, updated_at=db.now)
    lower_forks(db, project_id, visibility)


def lower_forks(db: Connection, project_id: int, visibility: str) -> None:
    """No fork shows to more people what its source shows to fewer."""
    more_open = more_open_than(visibility)
    for fork_id in more_open_forks(db, project_id, more_open) if more_open else ():
        lower_visibility(db, fork_id, visibility)


def more_open_than(visibility: str) -> list[str]:
    """The visibilities that show more."""
    return [word for word, openness in OPENNESS.items() if openness > OPENNESS[visibility]]


def archive_project(db: Connection, project: Project, archived: bool) -> Project:
    """Make a project read-only, or writable again."""
    if project.archived != archived:
        db.update(projects, project.id, archived=archived, updated_at=db.now, last_activity_at=db.now)
    return project_by_id(db, project.id)


def delete_project(db: Connection, project: Project) -> None:
    """Take a project from everybody's sight and free its path; rows and files go by a job."""
    db.must_hold(NAMESPACES)
    emit(db, ProjectDeleted(project_id=project.id, repository_key=project.repository_key))
    drop_all(db, source_of(project))
    db.run(_DROP_SHARES, project=project.id)
    # No path has two slashes in a row, so nobody's project can have this one.
    db.update(projects, project.id, namespace_id=None, full_path_key=f"deleted//{project.id}", updated_at=db.now)
    drop_avatar(db, project.avatar_id)
    if project.forked_from_id is not None:
        count_forks(db, project.forked_from_id, -1)
    payload = {"project_id": project.id, "repository_key": project.repository_key}
    enqueue(db, REMOVE_PROJECT, payload, unique_key=f"{REMOVAL_KEY}{project.id}")


def set_default_branch(db: Connection, project: Project, store: Store, branch: str) -> Project:
    """Let HEAD point to another branch; an empty repository takes any good name, others one that is there.

    The row says what is wanted, and HEAD follows once that is committed; where a crash comes between, by the job.
    """
    repository = store.open(project.repository_key)
    if ref_trouble(branch) or not may_be_head(repository, branch):
        raise Invalid(default_branch=["does not exist"])
    if branch == project.default_branch == head_or_none(repository):
        return project
    db.update(projects, project.id, default_branch=branch)
    # From here on the row is held: who wants to delete the branch waits for it, and who did so before is seen.
    if not may_be_head(repository, branch):
        raise Invalid(default_branch=["does not exist"])
    emit(db, DefaultBranchChosen(project.id, branch))
    enqueue(db, SETTLE_HEAD, {"project_id": project.id}, unique_key=head_key(project.id))
    db.after_commit(partial(settle_head, store=store, project_id=project.id))
    return project_by_id(db, project.id)


def tidy_project(db: Connection, project: Project, run_at: Timestamp | None = None) -> None:
    """Let a job tidy the repository; asking twice tidies once."""
    payload = {"repository_key": project.repository_key}
    enqueue(db, TIDY_PROJECT, payload, run_at=run_at, unique_key=f"tidy {project.id}")


def measure_project(db: Connection, project: Project) -> None:
    """Let a job count the repository's commits and bytes; asking twice measures once."""
    payload = {"repository_key": project.repository_key}
    enqueue(db, MEASURE_PROJECT, payload, unique_key=f"measure {project.id}")


def count_forks(db: Connection, project_id: int, by: int) -> None:
    """Keep the number of forks of a project."""
    db.must_hold(NAMESPACES)
    db.run(_COUNT_FORKS, counted=project_id, change=by)


def count_open_issues(db: Connection, project_id: int, by: int) -> None:
    """Keep the number of open issues of a project."""
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


def drop_redirect(db: Connection, namespace: Namespace, path: str) -> None:
    """Something new lies at a path, so it leads nowhere else any more."""
    db.run(_DROP_REDIRECT, namespace=namespace.id, path=path.lower())


def _move(db: Connection, project: Project, namespace: Namespace, path: str) -> None:
    full_path = f"{namespace.full_path}/{path}"
    if full_path.lower() != project.full_path_key:
        drop_redirect(db, namespace, path)
        db.insert(
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
