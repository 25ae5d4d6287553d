"""Pipelines that jobs of other pipelines have started: links, ancestors and children."""

from sqlalchemy import bindparam, func, select

from ingot.ci.pipelines.tables import DownstreamPipeline, downstream_pipelines
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.jobs.queue import enqueue
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.service import CANCEL_PIPELINES
from ingot.pipelines.tables import CHILD_SOURCE, Pipeline, pipelines

_LINK = select(downstream_pipelines).where(downstream_pipelines.c.pipeline_id == bindparam("pipeline"))
_LINKS_OF_JOBS = select(downstream_pipelines).where(in_list(downstream_pipelines.c.job_id, "jobs"))
_COUNT = select(func.count()).where(downstream_pipelines.c.root_id == bindparam("root"))
_ALL_CHILDREN = (
    select(pipelines.c.id)
    .join(downstream_pipelines, downstream_pipelines.c.pipeline_id == pipelines.c.id)
    .where(pipelines.c.source == CHILD_SOURCE)
    .order_by(pipelines.c.id)
)
_CHILDREN = _ALL_CHILDREN.where(downstream_pipelines.c.upstream_id == bindparam("pipeline"))
_CHILDREN_OF_JOBS = _ALL_CHILDREN.where(in_list(downstream_pipelines.c.job_id, "jobs"))


def upstream_link(db: Connection, pipeline_id: int) -> DownstreamPipeline | None:
    """Return the link from a pipeline to the job that has started it, if there is one."""
    return db.first(DownstreamPipeline, _LINK, pipeline=pipeline_id)


def downstream_ids(db: Connection, job_ids: list[int]) -> dict[int, int]:
    """Return the ids of the pipelines that jobs have started, by job id."""
    links = db.all(DownstreamPipeline, _LINKS_OF_JOBS, jobs=job_ids) if job_ids else []
    return {link.job_id: link.pipeline_id for link in links}


def child_ids(db: Connection, pipeline_id: int) -> list[int]:
    """Return the ids of the child pipelines of a pipeline."""
    return [child_id for (child_id,) in db.rows(_CHILDREN, pipeline=pipeline_id)]


def cancel_children(db: Connection, pipeline_id: int) -> None:
    """Cancel the child pipelines of a pipeline, each in a transaction of its own."""
    _cancel_pipelines(db, child_ids(db, pipeline_id))


def cancel_children_of_jobs(db: Connection, job_ids: list[int]) -> None:
    """Cancel the child pipelines that jobs have started, each in a transaction of its own."""
    if job_ids:
        _cancel_pipelines(db, [child_id for (child_id,) in db.rows(_CHILDREN_OF_JOBS, jobs=job_ids)])


def _cancel_pipelines(db: Connection, pipeline_ids: list[int]) -> None:
    if pipeline_ids:
        enqueue(db, CANCEL_PIPELINES, pipeline_ids)


def with_descendants(db: Connection, pipeline_id: int) -> list[int]:
    """Return the ids of a pipeline, of its children and of their children."""
    return [pipeline_id, *(each for child_id in child_ids(db, pipeline_id) for each in with_descendants(db, child_id))]


def with_ancestors(db: Connection, pipeline: Pipeline) -> list[Pipeline]:
    """Return a pipeline and the pipelines from which it follows, up to the first one."""
    chain = [pipeline]
    while (link := upstream_link(db, chain[-1].id)) is not None:
        upstream = pipelines_by_ids(db, [link.upstream_id]).get(link.upstream_id)
        if upstream is None:
            break
        chain.append(upstream)
    return chain


def first_of_family(db: Connection, pipeline: Pipeline) -> Pipeline:
    """Return the pipeline that is not a child itself, from which a child pipeline follows."""
    first = pipeline
    while first.source == CHILD_SOURCE and (link := upstream_link(db, first.id)) is not None:
        upstream = pipelines_by_ids(db, [link.upstream_id]).get(link.upstream_id)
        if upstream is None:
            break
        first = upstream
    return first


def hierarchy_size(db: Connection, pipeline_id: int) -> int:
    """Return the number of pipelines that follow from the first ancestor of a pipeline, which counts too."""
    link = upstream_link(db, pipeline_id)
    count: int = db.value(_COUNT, root=pipeline_id if link is None else link.root_id)
    return 1 + count
