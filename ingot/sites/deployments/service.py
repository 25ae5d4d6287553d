"""State changes of deployments."""

from typing import NamedTuple

from sqlalchemy import Text, bindparam, delete, select, update

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import enqueue
from ingot.pipelines.tables import pipelines
from ingot.sites.deployments.queries import active_deployments, ended_deployments, newest_pipeline_id
from ingot.sites.deployments.tables import PagesDeployment, pages_deployments

DELETE_SITE_FILES = "delete_site_files"
MAX_PARALLEL_DEPLOYMENTS = 100
RESTORE_SECONDS = 86_400
"""Time after its end for which a deployment can be restored."""
_DEACTIVATE = (
    update(pages_deployments)
    .where(
        pages_deployments.c.project_id == bindparam("project"),
        pages_deployments.c.deleted_at.is_(None),
        pages_deployments.c.path_prefix == bindparam("prefix"),
        pages_deployments.c.id != bindparam("without"),
    )
    .values(deleted_at=bindparam("moment", type_=Text), updated_at=bindparam("moment", type_=Text))
)
_DEACTIVATE_ALL = (
    update(pages_deployments)
    .where(pages_deployments.c.project_id == bindparam("project"), pages_deployments.c.deleted_at.is_(None))
    .values(deleted_at=bindparam("moment", type_=Text), updated_at=bindparam("moment", type_=Text))
)
_PIPELINES = select(pipelines).where(pipelines.c.merge_request_id == bindparam("merge_request"))
_DEACTIVATE_OF_MERGE_REQUEST = (
    update(pages_deployments)
    .where(
        # The pipelines may be those of a fork. The projects are named too, because deployments have an index of them.
        pages_deployments.c.project_id.in_(_PIPELINES.with_only_columns(pipelines.c.project_id)),
        pages_deployments.c.pipeline_id.in_(_PIPELINES.with_only_columns(pipelines.c.id)),
        pages_deployments.c.path_prefix != "",
        pages_deployments.c.deleted_at.is_(None),
    )
    .values(deleted_at=bindparam("moment", type_=Text), updated_at=bindparam("moment", type_=Text))
)
_DELETE = delete(pages_deployments).where(in_list(pages_deployments.c.id, "deployments"))


class NewDeployment(NamedTuple):
    """Files of a site in the storage, and the job that has made them."""

    project_id: int
    job_id: int
    pipeline_id: int
    path_prefix: str
    root_directory: str
    storage_key: str
    size: int
    index_offset: int
    file_count: int
    expire_in: int | None
    """Seconds; None for never."""


def require_newest(db: Connection, project_id: int, pipeline_id: int, path_prefix: str) -> None:
    """Raise Invalid if a newer pipeline has deployed already, or if the project has too many deployments."""
    if pipeline_id < newest_pipeline_id(db, project_id, path_prefix):
        raise Invalid("A newer pipeline has deployed the site already")
    others = {each.path_prefix for each in active_deployments(db, project_id)} - {path_prefix}
    if len(others) >= MAX_PARALLEL_DEPLOYMENTS:
        raise Invalid(
            f"The project has {MAX_PARALLEL_DEPLOYMENTS} parallel deployments; delete some, or let them expire"
        )


def add_deployment(db: Connection, new: NewDeployment) -> None:
    """Serve a new deployment instead of the one before it with the same path prefix."""
    db.lock(f"pages deployments of project {new.project_id}")
    require_newest(db, new.project_id, new.pipeline_id, new.path_prefix)
    row = new._asdict()
    seconds = row.pop("expire_in")
    expires_at = None if seconds is None else add_duration(db.now, seconds=seconds)
    deployment_id = db.insert(pages_deployments, **row, expires_at=expires_at, created_at=db.now, updated_at=db.now)
    db.run(_DEACTIVATE, project=new.project_id, prefix=new.path_prefix, without=deployment_id, moment=db.now)


def delete_deployment(db: Connection, deployment: PagesDeployment) -> None:
    """Stop serving a deployment; its files are deleted a day later."""
    if deployment.deleted_at is None:
        db.update(pages_deployments, deployment.id, deleted_at=db.now, updated_at=db.now)


def restore_deployment(db: Connection, deployment: PagesDeployment) -> None:
    """Serve a deleted deployment again, instead of the present one with its path prefix; raise Invalid if expired."""
    if deployment.expires_at is not None and deployment.expires_at <= db.now:
        raise Invalid("The deployment has expired")
    db.lock(f"pages deployments of project {deployment.project_id}")
    db.update(pages_deployments, deployment.id, deleted_at=None, updated_at=db.now)
    own = {"project": deployment.project_id, "prefix": deployment.path_prefix}
    db.run(_DEACTIVATE, **own, without=deployment.id, moment=db.now)


def delete_all_deployments(db: Connection, project_id: int) -> None:
    """Stop serving the site of a project."""
    db.run(_DEACTIVATE_ALL, project=project_id, moment=db.now)


def delete_deployments_of_merge_request(db: Connection, merge_request_id: int) -> None:
    """Stop serving what the pipelines of a merge request have deployed below a path prefix."""
    db.run(_DEACTIVATE_OF_MERGE_REQUEST, merge_request=merge_request_id, moment=db.now)


def remove_ended_deployments(db: Connection) -> int:
    """Remove deployments that ended a day ago; a job deletes their files. Return the number of removed ones."""
    moment: Timestamp = add_duration(db.now, seconds=-RESTORE_SECONDS)
    ended = ended_deployments(db, moment)
    if ended:
        db.run(_DELETE, deployments=[deployment.id for deployment in ended])
        enqueue(db, DELETE_SITE_FILES, [deployment.storage_key for deployment in ended])
    return len(ended)
