"""State changes of forks and fork relations."""

from typing import Any

from msgspec import UNSET

from ingot.accounts.instance.settings import current_settings
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid
from ingot.core.events.bus import emit
from ingot.core.jobs.queue import enqueue
from ingot.projects.forks.queries import JOB_KEY, locked_copy_or_none, lost_copies
from ingot.projects.groups.service import VISIBILITY_ORDER
from ingot.projects.imports.events import ProjectImported
from ingot.projects.imports.service import ImportResult
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.params import CreateProject, ForkProject
from ingot.projects.projects.queries import existing_project, fork_ancestry
from ingot.projects.projects.service import add_to_forks_count, create_project
from ingot.projects.projects.tables import Project, projects

COPY_FORK = "copy_fork"
_INTERRUPTED = "The copy was interrupted too often"
_COPY_PENDING = {"import_status": "scheduled"}
_COPIED_ATTRIBUTES = (
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
    params: ForkProject,
    namespace: Namespace,
    repository: tuple[str, str],
) -> Project:
    """Create a fork with an existing repository; it is never more visible than its source."""
    visibility = _fork_visibility(db, actor, source, namespace)
    attributes = {name: getattr(source, name) for name in _COPIED_ATTRIBUTES}
    attributes |= {"visibility": visibility, "name": source.name, "path": source.path}
    if params.visibility and VISIBILITY_ORDER[str(params.visibility)] <= VISIBILITY_ORDER[visibility]:
        attributes["visibility"] = params.visibility
    if params.name:
        attributes["name"] = params.name
    if params.path:
        attributes["path"] = params.path
    if params.description:
        attributes["description"] = params.description
    if params.mr_default_target_self is not UNSET:
        attributes["mr_default_target_self"] = params.mr_default_target_self
    try:
        fork = create_project(
            db,
            actor,
            CreateProject(**attributes),
            namespace,
            *repository,
            forked_from_id=source.id,
            **(_COPY_PENDING if params.by_job else _copied_columns(source)),
        )
    except Invalid as error:
        if any("has already been taken" in reasons for reasons in error.errors.values()):
            raise Conflict(**error.errors) from error
        raise
    add_to_forks_count(db, source.id, 1)
    if params.by_job:
        enqueue(db, COPY_FORK, {"project_id": fork.id}, unique_key=f"{JOB_KEY}{fork.id}")
    return fork


def _copied_columns(source: Project) -> dict[str, Any]:
    return {
        "import_status": "finished",
        "empty": source.empty,
        "commit_count": source.commit_count,
        "repository_size": source.repository_size,
    }


def start_copy(db: Connection, project_id: int) -> None:
    """Mark a pending copy as started."""
    if locked_copy_or_none(db, project_id) is not None:
        db.update(projects, project_id, import_status="started", import_error=None)


def finish_copy(db: Connection, project_id: int, key: str, result: ImportResult) -> bool:
    """Set the repository of the fork to this key and mark the copy as finished; return whether it was still pending."""
    if locked_copy_or_none(db, project_id) is None:
        return False
    db.update(
        projects,
        project_id,
        repository_key=key,
        import_status="finished",
        import_error=None,
        updated_at=db.now,
        **result._asdict(),
    )
    emit(db, ProjectImported(project_id=project_id))
    return True


def fail_copy(db: Connection, project_id: int, reason: str) -> None:
    """Mark a pending copy as failed for this reason."""
    if locked_copy_or_none(db, project_id) is not None:
        db.update(projects, project_id, import_status="failed", import_error=reason, updated_at=db.now)


def fail_lost_copies(db: Connection) -> None:
    """Mark copies whose job no longer exists as failed; otherwise they would be pending forever."""
    for project_id in lost_copies(db):
        fail_copy(db, project_id, _INTERRUPTED)


def _fork_visibility(db: Connection, actor: Actor, source: Project, namespace: Namespace) -> str:
    """Return the source's visibility, lowered to the maximum that the group and the instance settings allow."""
    max_rank = VISIBILITY_ORDER[source.visibility]
    if namespace.kind == "group":
        max_rank = min(max_rank, VISIBILITY_ORDER[namespace.visibility])
    restricted = () if actor.admin else current_settings(db).restricted_visibility_levels
    allowed = [
        visibility for visibility, rank in VISIBILITY_ORDER.items() if rank <= max_rank and visibility not in restricted
    ]
    return max(allowed, key=VISIBILITY_ORDER.__getitem__, default="private")


def set_fork_relation(db: Connection, project: Project, source: Project) -> Project:
    """Set the source of a fork; raise Invalid if this would create a cycle."""
    if project.id in fork_ancestry(db, source.id):
        raise Invalid("A project cannot be a fork of itself or of one of its forks")
    db.update(projects, project.id, forked_from_id=source.id)
    add_to_forks_count(db, source.id, 1)
    return existing_project(db, project.id)


def delete_fork_relation(db: Connection, project: Project) -> None:
    """Delete the fork relation of a project and update the source's fork count."""
    if project.forked_from_id is not None:
        add_to_forks_count(db, project.forked_from_id, -1)
        db.update(projects, project.id, forked_from_id=None)
