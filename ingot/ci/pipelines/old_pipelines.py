"""Deletion of pipelines that are older than their project keeps them."""

from functools import partial

from sqlalchemy import bindparam, select

from ingot.ci.pipelines.service import delete_pipeline
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import one_of
from ingot.core.db.times import add_duration
from ingot.core.jobs.queue import enqueue
from ingot.pipelines.queries import lock_pipeline_by_id
from ingot.pipelines.tables import Pipeline, pipelines
from ingot.projects.projects.options import project_ci_options
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import projects

DELETE_OLD_PIPELINES = "delete_old_pipelines"
_OPTION = "ci_delete_pipelines_in_seconds"
_BATCH = 100
_CANDIDATES = (
    select(projects.c.id, projects.c.options_document)
    .where(projects.c.options_document.contains(f'"{_OPTION}"'))
    .order_by(projects.c.id)
)
_OLD = (
    select(pipelines)
    .where(
        pipelines.c.project_id == bindparam("project"),
        pipelines.c.created_at < bindparam("before"),
        ~one_of(pipelines.c.status, "pending", "running"),
    )
    .order_by(pipelines.c.id)
    .limit(_BATCH)
)


def enqueue_pipeline_deletion(db: Connection) -> None:
    """Enqueue the deletion of old pipelines in the projects that demand it."""
    for project_id, document in db.rows(_CANDIDATES):
        if project_ci_options(document).ci_delete_pipelines_in_seconds is not None:
            enqueue(db, DELETE_OLD_PIPELINES, project_id, unique_key=f"{DELETE_OLD_PIPELINES}:{project_id}")


def delete_old_pipelines(database: Database, project_id: int) -> None:
    """Delete the old pipelines of a project, each in its own transaction."""
    while old := database.read(partial(_old_pipelines, project_id=project_id)):
        for pipeline in old:
            database.write(partial(_delete, pipeline_id=pipeline.id))


def _old_pipelines(db: Connection, project_id: int) -> list[Pipeline]:
    project = project_or_none(db, project_id)
    seconds = None if project is None else project.ci_options.ci_delete_pipelines_in_seconds
    if seconds is None:
        return []
    return db.all(Pipeline, _OLD, project=project_id, before=add_duration(db.now, seconds=-seconds))


def _delete(db: Connection, pipeline_id: int) -> None:
    pipeline = lock_pipeline_by_id(db, pipeline_id)
    if pipeline is not None:  # Its parent may have been deleted just now.
        delete_pipeline(db, pipeline)
