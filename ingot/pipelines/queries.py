"""Queries of pipelines and their statuses."""

from collections.abc import Iterable, Sequence

from sqlalchemy import bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.errors import NotFound
from ingot.pipelines.outcome import StatusPart
from ingot.pipelines.tables import IS_NO_CHILD, CommitStatus, Pipeline, commit_statuses, pipelines
from ingot.projects.projects.tables import projects

_IN_PROJECT = select(pipelines).where(pipelines.c.project_id == bindparam("project"))
_BY_ID = _IN_PROJECT.where(pipelines.c.id == bindparam("pipeline"))
_NEWEST = (
    _IN_PROJECT.where(pipelines.c.sha == bindparam("sha"), pipelines.c.ref == bindparam("ref"), IS_NO_CHILD)
    .order_by(pipelines.c.id.desc())
    .limit(1)
)
_LATEST_BY_REF = (
    select(func.max(pipelines.c.id))
    .where(pipelines.c.project_id == bindparam("project"), pipelines.c.sha == bindparam("sha"), IS_NO_CHILD)
    .group_by(pipelines.c.ref)
)
_OF_COMMIT = (
    select(pipelines).where(pipelines.c.id.in_(_LATEST_BY_REF.scalar_subquery())).order_by(pipelines.c.id.desc())
)
_LATEST_OF_COMMITS = (
    select(func.max(pipelines.c.id))
    .where(pipelines.c.project_id == bindparam("project"), in_list(pipelines.c.sha, "shas"), IS_NO_CHILD)
    .group_by(pipelines.c.sha, pipelines.c.ref)
)
_OF_COMMITS = (
    select(pipelines).where(pipelines.c.id.in_(_LATEST_OF_COMMITS.scalar_subquery())).order_by(pipelines.c.id.desc())
)
_LOCK_BY_ID = _BY_ID.with_for_update()
_BY_IDS = select(pipelines).where(in_list(pipelines.c.id, "ids"))
_LOCK_ANY = select(pipelines).where(pipelines.c.id == bindparam("pipeline")).with_for_update()
_LOCK_NEWEST = _NEWEST.with_for_update()
# Pipeline numbers in a project are sequential, so transactions that add a pipeline wait for this lock.
_LOCK_PROJECT = select(projects.c.id).where(projects.c.id == bindparam("project")).with_for_update()
_LAST_IID = select(func.max(pipelines.c.iid)).where(pipelines.c.project_id == bindparam("project"))
_LATEST = select(commit_statuses).where(
    commit_statuses.c.pipeline_id == bindparam("pipeline"),
    commit_statuses.c.name == bindparam("name"),
    ~commit_statuses.c.retried,
)
_ALLOWED_FAILURE = (
    select(commit_statuses.c.id)
    .where(
        commit_statuses.c.pipeline_id == bindparam("pipeline"),
        ~commit_statuses.c.retried,
        commit_statuses.c.allow_failure,
        one_of(commit_statuses.c.status, "failed", "canceled"),
    )
    .limit(1)
)
_STATUSES_BY_IDS = select(commit_statuses).where(in_list(commit_statuses.c.id, "ids")).order_by(commit_statuses.c.id)
_STATUS_PARTS = select(
    commit_statuses.c.status,
    commit_statuses.c.allow_failure,
    commit_statuses.c.coverage,
    commit_statuses.c.started_at,
    commit_statuses.c.finished_at,
).where(commit_statuses.c.pipeline_id == bindparam("pipeline"), ~commit_statuses.c.retried)


def find_pipeline(db: Connection, project_id: int, pipeline_id: int) -> Pipeline:
    """Return a project's pipeline; raise NotFound otherwise."""
    pipeline = db.first(Pipeline, _BY_ID, project=project_id, pipeline=pipeline_id)
    if pipeline is None:
        raise NotFound("Pipeline")
    return pipeline


def pipelines_by_ids(db: Connection, pipeline_ids: Iterable[int]) -> dict[int, Pipeline]:
    """Return pipelines by id; missing ones are left out."""
    ids = sorted(set(pipeline_ids))
    return {pipeline.id: pipeline for pipeline in db.all(Pipeline, _BY_IDS, ids=ids)} if ids else {}


def newest_pipeline_or_none(db: Connection, project_id: int, sha: str, ref: str) -> Pipeline | None:
    """Return the newest pipeline of a commit on a branch or tag, if any."""
    return db.first(Pipeline, _NEWEST, project=project_id, sha=sha, ref=ref)


def pipelines_of_commit(db: Connection, project_id: int, sha: str) -> list[Pipeline]:
    """Return the newest pipeline of a commit on each branch and tag, newest first."""
    return db.all(Pipeline, _OF_COMMIT, project=project_id, sha=sha)


def pipelines_of_commits(db: Connection, project_id: int, shas: Sequence[str]) -> dict[str, list[Pipeline]]:
    """Return the newest pipelines of several commits by commit id; commits without pipelines are left out."""
    by_sha: dict[str, list[Pipeline]] = {}
    for pipeline in db.all(Pipeline, _OF_COMMITS, project=project_id, shas=list(shas)) if shas else ():
        by_sha.setdefault(pipeline.sha, []).append(pipeline)
    return by_sha


def lock_pipeline(db: Connection, project_id: int, pipeline_id: int, sha: str, ref: str | None) -> Pipeline:
    """Lock and return a pipeline.

    Raise NotFound unless it belongs to this commit and, if given, to this branch or tag.
    """
    pipeline = db.first(Pipeline, _LOCK_BY_ID, project=project_id, pipeline=pipeline_id)
    if pipeline is None or pipeline.sha != sha or ref not in (None, pipeline.ref):
        raise NotFound("Pipeline")
    return pipeline


def lock_pipeline_by_id(db: Connection, pipeline_id: int) -> Pipeline | None:
    """Lock and return a pipeline, if it exists."""
    return db.first(Pipeline, _LOCK_ANY, pipeline=pipeline_id)


def lock_newest_pipeline(db: Connection, project_id: int, sha: str, ref: str | None) -> Pipeline | None:
    """Lock and return the newest pipeline of a commit on a branch or tag, if any."""
    return db.first(Pipeline, _LOCK_NEWEST, project=project_id, sha=sha, ref=ref)


def lock_project(db: Connection, project_id: int) -> None:
    """Prevent other transactions from adding a pipeline to a project until this one ends."""
    db.value(_LOCK_PROJECT, project=project_id)


def next_iid(db: Connection, project_id: int) -> int:
    """Return the number of a project's next pipeline; the project must be locked."""
    last: int | None = db.value(_LAST_IID, project=project_id)
    return (last or 0) + 1


def latest_status_or_none(db: Connection, pipeline: Pipeline, name: str) -> CommitStatus | None:
    """Return a pipeline's current status with this name, if any."""
    return db.first(CommitStatus, _LATEST, pipeline=pipeline.id, name=name)


def find_status(db: Connection, pipeline: Pipeline, name: str) -> CommitStatus:
    """Return a pipeline's current status with this name; raise NotFound otherwise."""
    status = latest_status_or_none(db, pipeline, name)
    if status is None:
        raise NotFound("Status")
    return status


def status_parts(db: Connection, pipeline: Pipeline) -> list[StatusPart]:
    """List a pipeline's current statuses, reduced to the fields that count for its outcome."""
    return [StatusPart(*row) for row in db.rows(_STATUS_PARTS, pipeline=pipeline.id)]


def has_allowed_failures(db: Connection, pipeline: Pipeline) -> bool:
    """Return whether a job of a pipeline has failed that may fail."""
    return db.value(_ALLOWED_FAILURE, pipeline=pipeline.id) is not None


def statuses_by_ids(db: Connection, status_ids: Sequence[int]) -> list[CommitStatus]:
    """Return the statuses with these ids, in the order of their ids."""
    return db.all(CommitStatus, _STATUSES_BY_IDS, ids=list(status_ids)) if status_ids else []
