"""Choice of the next job for a runner."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import ColumnElement, FromClause, Select, Subquery, bindparam, delete, false, func, or_, select, true

from ingot.ci.job_records.queries import has_active_user, job_by_id, lock_job
from ingot.ci.job_records.tables import CiJob, ci_queue, ci_running
from ingot.ci.pipelines.deploy_permission import is_refused
from ingot.ci.pipelines.deployments import is_outdated_deployment
from ingot.ci.pipelines.processing import finish_job, start_job
from ingot.ci.pipelines.tables import ci_settings
from ingot.ci.runner_protocol.dependencies import has_missing_dependency
from ingot.ci.runners.queries import tags_of_runner
from ingot.ci.runners.tables import Runner, runner_projects
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, list_as_table
from ingot.core.errors import Conflict
from ingot.pipelines.queries import lock_pipeline_by_id
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import projects

MAX_ATTEMPTS = 50
"""Jobs that may turn out to be taken by other runners, or not to be executable, in one poll."""
_CANDIDATES = 5
_MORE_CANDIDATES = 50
"""Jobs of one project among which concurrent runners find different ones."""
_UNTAGGED = "[]"
MAX_TAG_SETS = 200
"""Number of tag sets from which a scan of the queue is quicker than one search for each."""

_DEQUEUE = delete(ci_queue).where(ci_queue.c.job_id == bindparam("job"))
_OF_PROJECT = (
    select(ci_queue.c.job_id)
    .where(ci_queue.c.project_id == bindparam("project"), in_list(ci_queue.c.tags, "tag_sets"))
    .order_by(ci_queue.c.job_id)
    .limit(_MORE_CANDIDATES)
)
_PROTECTED_OF_PROJECT = _OF_PROJECT.where(ci_queue.c.protected)
_shared_jobs = (
    select(ci_running.c.project_id, func.count().label("running"))
    .where(ci_running.c.shared_runner)
    .group_by(ci_running.c.project_id)
    .subquery()
)


def _tag_sets() -> Select[Any]:
    """Select the distinct tag sets of the queue; one search in the index for each instead of a scan."""
    step = select(func.min(ci_queue.c.tags).label("tags")).cte("tag_sets", recursive=True)
    following = ci_queue.alias()
    later = select(func.min(following.c.tags)).where(following.c.tags > step.c.tags).scalar_subquery()
    step = step.union_all(select(later).where(step.c.tags.is_not(None)))
    return select(step.c.tags).where(step.c.tags.is_not(None)).limit(MAX_TAG_SETS)


_TAG_SETS = _tag_sets()
_ALL_TAG_SETS = select(ci_queue.c.tags).distinct()


def _lanes(*, protected: bool) -> Subquery:
    """Return the accepted tag sets, with and without protection, as a table."""
    tag_sets = list_as_table("tag_sets").table_valued("value")
    kinds = select(true().label("protected"))
    both = kinds if protected else kinds.union_all(select(false()))
    kind = both.subquery()
    return select(tag_sets.c.value.label("tags"), kind.c.protected).select_from(tag_sets.join(kind, true())).subquery()


def _min_in_lane(column: str, lane: FromClause, *conditions: Callable[[FromClause], ColumnElement[bool]]) -> Any:
    """Select the lowest project or job in a part of the index with equal tags and protection."""
    queue = ci_queue.alias()
    in_lane = (queue.c.tags == lane.c.tags, queue.c.protected == lane.c.protected)
    return select(func.min(queue.c[column])).where(*in_lane, *(of(queue) for of in conditions)).scalar_subquery()


def _queued_projects(*, protected: bool) -> Subquery:
    """Return the oldest job of each project that has any, from searches in the index, not from a scan."""
    lanes = _lanes(protected=protected)
    first = select(lanes.c.tags, lanes.c.protected, _min_in_lane("project_id", lanes).label("project_id"))
    step = first.cte("queued", recursive=True)
    following = _min_in_lane("project_id", step, lambda queue: queue.c.project_id > step.c.project_id)
    step = step.union_all(select(step.c.tags, step.c.protected, following).where(step.c.project_id.is_not(None)))
    job_id = _min_in_lane("job_id", step, lambda queue: queue.c.project_id == step.c.project_id)
    return (
        select(step.c.project_id, func.min(job_id).label("job_id"))
        .where(step.c.project_id.is_not(None))
        .group_by(step.c.project_id)
        .subquery()
    )


def _queued_of_runner(*, protected: bool) -> Subquery:
    """Return the oldest job of each project of a project runner."""
    lanes = _lanes(protected=protected)
    assigned = runner_projects.c.project_id
    job_id = _min_in_lane("job_id", lanes, lambda queue: queue.c.project_id == assigned)
    jobs = (
        select(assigned, job_id.label("job_id"))
        .select_from(runner_projects.join(lanes, true()))
        .where(runner_projects.c.runner_id == bindparam("runner"))
        .subquery()
    )
    return (
        select(jobs.c.project_id, func.min(jobs.c.job_id).label("job_id"))
        .where(jobs.c.job_id.is_not(None))
        .group_by(jobs.c.project_id)
        .subquery()
    )


def _candidates(kind: str, *, protected: bool) -> Select[Any]:
    """Select the next jobs for a runner of a kind, at most one of each project.

    Runners of the instance prefer projects for which few of them are busy; others take the oldest job.
    """
    of_runner = kind == "project_type"
    oldest = _queued_of_runner(protected=protected) if of_runner else _queued_projects(protected=protected)
    executable = (
        select(oldest.c.job_id, oldest.c.project_id)
        .join(projects, projects.c.id == oldest.c.project_id)
        .where(projects.c.namespace_id.is_not(None), projects.c.jobs_enabled, ~projects.c.archived)
        .limit(_CANDIDATES)
    )
    if kind == "instance_type":
        return (
            executable.outerjoin(_shared_jobs, _shared_jobs.c.project_id == oldest.c.project_id)
            .where(projects.c.shared_runners_enabled)
            .order_by(func.coalesce(_shared_jobs.c.running, 0), oldest.c.job_id)
        )
    if kind == "group_type":
        return (
            executable.join(namespace_tree, namespace_tree.c.descendant_id == projects.c.namespace_id)
            .outerjoin(ci_settings, ci_settings.c.project_id == projects.c.id)
            .where(
                namespace_tree.c.ancestor_id == bindparam("group"),
                or_(ci_settings.c.group_runners_enabled.is_(None), ci_settings.c.group_runners_enabled),
            )
            .order_by(oldest.c.job_id)
        )
    return executable.order_by(oldest.c.job_id)


_BY_KIND = {
    (kind, protected): _candidates(kind, protected=protected)
    for kind in ("instance_type", "group_type", "project_type")
    for protected in (False, True)
}


class TakenJob(NamedTuple):
    """A job that a runner has taken, with the job's new token."""

    job: CiJob
    token: str


class QueueView(NamedTuple):
    """The part of the queue that a runner accepts."""

    tag_sets: list[str]
    candidates: list[tuple[int, int]]
    """The next job of each of the next projects, with the project."""


def jobs_for_runner(db: Connection, runner: Runner) -> QueueView:
    """Return the jobs that a runner should try to take, the best one first."""
    tag_sets = _accepted_tag_sets(db, runner)
    if not tag_sets:
        return QueueView([], [])
    values: dict[str, Any] = {}
    if runner.runner_type == "project_type":
        values["runner"] = runner.id
    elif runner.runner_type == "group_type":
        values["group"] = runner.group_id
    statement = _BY_KIND[runner.runner_type, runner.access_level == "ref_protected"]
    rows = db.rows(statement, tag_sets=tag_sets, **values)
    return QueueView(tag_sets, [(job_id, project_id) for job_id, project_id in rows])


def _accepted_tag_sets(db: Connection, runner: Runner) -> list[str]:
    """Return the sets of tags in the queue that a runner accepts, as they are stored."""
    tags = set(tags_of_runner(runner))
    stored_sets = db.rows(_TAG_SETS)
    if len(stored_sets) == MAX_TAG_SETS:
        stored_sets = db.rows(_ALL_TAG_SETS)
    accepted = []
    for (stored,) in stored_sets:
        if stored == _UNTAGGED:
            if runner.run_untagged:
                accepted.append(stored)
        elif tags.issuperset(msgspec.json.decode(stored, type=list[str])):
            accepted.append(stored)
    return accepted


def take_job(
    db: Connection, runner: Runner, queue: QueueView | None = None, *, cancel_gracefully: bool = False
) -> TakenJob | None:
    """Assign the next job to a runner, or return None; no other runner gets it.

    ``queue`` is the result of a search before the transaction. Jobs that cannot be executed any more are ended on the
    way. Raise Conflict if others were always faster.
    """
    for attempt in range(MAX_ATTEMPTS):
        if queue is None or attempt:
            queue = jobs_for_runner(db, runner)
        if not queue.candidates:
            return None
        job = _claim(db, runner, queue)
        if job is not None and _is_executable(db, job):
            token = start_job(db, job, runner, cancel_gracefully=cancel_gracefully)
            return TakenJob(job_by_id(db, job.id) or job, token)
    raise Conflict("409 Conflict")


def _claim(db: Connection, runner: Runner, queue: QueueView) -> CiJob | None:
    """Remove a job from the queue and return it; None if other runners have taken all candidates."""
    for first, project_id in queue.candidates:
        job = _claim_job(db, first)
        if job is not None:
            return job
        more = _PROTECTED_OF_PROJECT if runner.access_level == "ref_protected" else _OF_PROJECT
        for (job_id,) in db.rows(more, project=project_id, tag_sets=queue.tag_sets):
            job = None if job_id == first else _claim_job(db, job_id)
            if job is not None:
                return job
    return None


def _claim_job(db: Connection, job_id: int) -> CiJob | None:
    # Without waiting: another runner that takes this job would only be waited for in vain.
    if not db.try_lock(f"ci queue {job_id}"):
        return None
    job = lock_job(db, job_id)
    # Only one transaction deletes the row, so only one runner gets the job.
    return job if job is not None and db.run_counted(_DEQUEUE, job=job_id) else None


def _is_executable(db: Connection, job: CiJob) -> bool:
    """Return whether a job may start; end it otherwise, as if its user was blocked or may not deploy."""
    if not has_active_user(db, job):
        finish_job(db, job, "failed", "user_blocked")
        return False
    if has_missing_dependency(db, job):
        finish_job(db, job, "failed", "missing_dependency_failure")
        return False
    if is_refused(db, job):
        finish_job(db, job, "failed", "protected_environment_failure")
        return False
    if job.environment is not None:
        pipeline = lock_pipeline_by_id(db, job.pipeline_id)
        if pipeline is not None and is_outdated_deployment(db, job, pipeline):
            finish_job(db, job, "failed", "failed_outdated_deployment_job")
            return False
    return True
