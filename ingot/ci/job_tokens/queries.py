"""Queries of the scope of job tokens."""

from sqlalchemy import ColumnElement, bindparam, exists, func, or_, select

from ingot.ci.job_tokens.tables import job_token_allowances
from ingot.ci.pipelines.queries import settings_of
from ingot.ci.pipelines.tables import ci_settings
from ingot.core.db.connection import Connection
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import projects

_IN_PROJECT = job_token_allowances.c.project_id == bindparam("project")
_PROJECT_OF_JOB = projects.alias("project_of_job")
_GROUPS_OF_JOB = (
    select(namespace_tree.c.ancestor_id)
    .join(_PROJECT_OF_JOB, _PROJECT_OF_JOB.c.namespace_id == namespace_tree.c.descendant_id)
    .where(_PROJECT_OF_JOB.c.id == bindparam("job_project"))
)
_LISTS_JOB = or_(
    job_token_allowances.c.allowed_project_id == bindparam("job_project"),
    job_token_allowances.c.allowed_group_id.in_(_GROUPS_OF_JOB.scalar_subquery()),
)
_ALLOWED = select(job_token_allowances.c.id).where(_IN_PROJECT, _LISTS_JOB).limit(1)
_BY_PLACE = select(job_token_allowances.c.id).where(_IN_PROJECT, job_token_allowances.c.place == bindparam("place"))
_COUNT = select(func.count()).select_from(job_token_allowances).where(_IN_PROJECT)
_PROJECT_IDS = select(job_token_allowances.c.allowed_project_id).where(
    _IN_PROJECT, job_token_allowances.c.allowed_project_id.is_not(None)
)
_GROUP_IDS = select(job_token_allowances.c.allowed_group_id).where(
    _IN_PROJECT, job_token_allowances.c.allowed_group_id.is_not(None)
)


def allows_job_token(db: Connection, job_project_id: int, project_id: int) -> bool:
    """Return whether jobs of one project may access another one, as far as their users may."""
    if not settings_of(db, project_id).job_token_scope_enabled:
        return True
    return db.value(_ALLOWED, project=project_id, job_project=job_project_id) is not None


def allows_jobs() -> ColumnElement[bool]:
    """Return ``allows_job_token`` as a condition of a row of ``projects``, for jobs of the project ``job_project``."""
    unlimited = exists().where(
        ci_settings.c.project_id == projects.c.id, ci_settings.c.job_token_scope_enabled.is_(False)
    )
    listed = exists().where(job_token_allowances.c.project_id == projects.c.id, _LISTS_JOB)
    return or_(projects.c.id == bindparam("job_project"), unlimited, listed)


def allowance_or_none(db: Connection, project_id: int, place: str) -> int | None:
    """Return the id of the entry of a project or group in a list, if any."""
    found: int | None = db.value(_BY_PLACE, project=project_id, place=place)
    return found


def count_allowances(db: Connection, project_id: int) -> int:
    """Return the number of listed projects and groups."""
    count: int = db.value(_COUNT, project=project_id)
    return count


def allowed_project_ids(db: Connection, project_id: int) -> list[int]:
    """Return the ids of the listed projects and of the project itself."""
    return [project_id, *(row[0] for row in db.rows(_PROJECT_IDS, project=project_id))]


def allowed_group_ids(db: Connection, project_id: int) -> list[int]:
    """Return the ids of the listed groups."""
    return [row[0] for row in db.rows(_GROUP_IDS, project=project_id)]
