"""Making forks, and saying what is one."""

from typing import Any

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid
from ingot.events.bus import emit
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.service import OPENNESS
from ingot.instance.settings import current_settings
from ingot.jobs.queue import enqueue
from ingot.projects.forks.queries import JOB_KEY, list_lost_copies, locked_copy_or_none
from ingot.projects.imports.events import ProjectImported
from ingot.projects.imports.service import Brought
from ingot.projects.params import CreateProject, ForkProject
from ingot.projects.queries import fork_line, project_by_id
from ingot.projects.service import count_forks, create_project
from ingot.projects.tables import Project, projects

COPY_PROJECT = "copy project"
_LOST = "The copy was interrupted too often"
_TO_BE_COPIED = {"import_status": "scheduled"}
_SAME = (
    "description",
    "issues_enabled",
    "merge_requests_enabled",
    "repository_access_level",
    "jobs_enabled",
    "wiki_enabled",
    "snippets_enabled",
    "lfs_enabled",
    "public_jobs",
)


def fork_project(
    db: Connection,
    actor: Actor,
    source: Project,
    wanted: ForkProject,
    namespace: Namespace,
    repository: tuple[str, str],
) -> Project:
    """Add a fork whose repository exists already; it is never more visible than its source."""
    visibility = _most_visible(db, actor, source, namespace)
    attributes = {name: getattr(source, name) for name in _SAME}
    attributes |= {"visibility": visibility, "name": source.name, "path": source.path}
    if wanted.visibility and OPENNESS[str(wanted.visibility)] <= OPENNESS[visibility]:
        attributes["visibility"] = wanted.visibility
    if wanted.name:
        attributes["name"] = wanted.name
    if wanted.path:
        attributes["path"] = wanted.path
    if wanted.description:
        attributes["description"] = wanted.description
    try:
        fork = create_project(
            db,
            actor,
            CreateProject(**attributes),
            namespace,
            *repository,
            forked_from_id=source.id,
            **(_TO_BE_COPIED if wanted.by_job else _copied(source)),
        )
    except Invalid as error:
        if any("has already been taken" in reasons for reasons in error.errors.values()):
            raise Conflict(**error.errors) from error
        raise
    count_forks(db, source.id, 1)
    if wanted.by_job:
        enqueue(db, COPY_PROJECT, {"project_id": fork.id}, unique_key=f"{JOB_KEY}{fork.id}")
    return fork


def _copied(source: Project) -> dict[str, Any]:
    return {
        "import_status": "finished",
        "empty": source.empty,
        "commit_count": source.commit_count,
        "repository_size": source.repository_size,
    }


def start_copy(db: Connection, project_id: int) -> None:
    """Say that it runs, if anybody still waits for it."""
    if locked_copy_or_none(db, project_id) is not None:
        db.update(projects, project_id, import_status="started", import_error=None)


def finish_copy(db: Connection, project_id: int, key: str, brought: Brought) -> bool:
    """Let the fork have the repository with this key; says whether anybody still waited for it."""
    if locked_copy_or_none(db, project_id) is None:
        return False
    db.update(
        projects,
        project_id,
        repository_key=key,
        import_status="finished",
        import_error=None,
        updated_at=db.now,
        **brought._asdict(),
    )
    emit(db, ProjectImported(project_id=project_id))
    return True


def fail_copy(db: Connection, project_id: int, reason: str) -> None:
    """Say that it did not work, and why."""
    if locked_copy_or_none(db, project_id) is not None:
        db.update(projects, project_id, import_status="failed", import_error=reason, updated_at=db.now)


def fail_lost_copies(db: Connection) -> None:
    """End those whose job was given up, so that nobody waits for them for ever."""
    for project_id in list_lost_copies(db):
        fail_copy(db, project_id, _LOST)


def _most_visible(db: Connection, actor: Actor, source: Project, namespace: Namespace) -> str:
    """As visible as its source, but for what the group around it and the administrators allow."""
    most = OPENNESS[source.visibility]
    if namespace.kind == "group":
        most = min(most, OPENNESS[namespace.visibility])
    restricted = () if actor.admin else current_settings(db).restricted_visibility_levels
    allowed = [word for word, openness in OPENNESS.items() if openness <= most and word not in restricted]
    return max(allowed, key=OPENNESS.__getitem__, default="private")


def set_fork_relation(db: Connection, project: Project, source: Project) -> Project:
    """Say what a project was forked from."""
    if project.id in fork_line(db, source.id):
        raise Invalid("A project cannot be a fork of itself or of one of its forks")
    db.update(projects, project.id, forked_from_id=source.id)
    count_forks(db, source.id, 1)
    return project_by_id(db, project.id)


def drop_fork_relation(db: Connection, project: Project) -> None:
    """Forget what a project was forked from."""
    if project.forked_from_id is not None:
        count_forks(db, project.forked_from_id, -1)
        db.update(projects, project.id, forked_from_id=None)
