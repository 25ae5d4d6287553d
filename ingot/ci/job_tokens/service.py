"""State changes of the scope of job tokens."""

from sqlalchemy import bindparam, insert, select, update

from ingot.ci.job_tokens.queries import allowance_or_none, count_allowances
from ingot.ci.job_tokens.tables import job_token_allowances
from ingot.ci.pipelines.tables import ci_settings
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project

MAX_ALLOWANCES = 200
_SETTINGS = select(ci_settings.c.project_id).where(ci_settings.c.project_id == bindparam("project"))
_SET_ENABLED = (
    update(ci_settings)
    .where(ci_settings.c.project_id == bindparam("project"))
    .values(job_token_scope_enabled=bindparam("enabled"))
)
_INSERT_SETTINGS = insert(ci_settings).values(
    project_id=bindparam("project"), job_token_scope_enabled=bindparam("enabled")
)


def set_scope_enabled(db: Connection, project: Project, enabled: bool) -> None:
    """Limit the access of job tokens to listed projects, or give it to all projects."""
    exists = db.value(_SETTINGS, project=project.id) is not None
    db.run(_SET_ENABLED if exists else _INSERT_SETTINGS, project=project.id, enabled=enabled)


def allow_project(db: Connection, project: Project, target: Project) -> None:
    """Give the job tokens of another project access to a project."""
    if target.id == project.id:
        raise Invalid("This project is already in the job token allowlist.")
    _add(db, project, f"project {target.id}", allowed_project_id=target.id)


def allow_group(db: Connection, project: Project, group: Namespace) -> None:
    """Give the job tokens of all projects of a group access to a project."""
    _add(db, project, f"group {group.id}", allowed_group_id=group.id)


def disallow_project(db: Connection, project: Project, target_id: int) -> None:
    """Remove a project from the list."""
    if target_id == project.id:
        raise Invalid("Source project cannot be removed from the job token scope")
    _remove(db, project, f"project {target_id}", "Target project is not in the job token scope")


def disallow_group(db: Connection, project: Project, group_id: int) -> None:
    """Remove a group from the list."""
    _remove(db, project, f"group {group_id}", "Target group is not in the job token scope")


def _add(db: Connection, project: Project, place: str, **columns: int) -> None:
    if allowance_or_none(db, project.id, place) is not None:
        raise Invalid(f"This {place.partition(' ')[0]} is already in the job token allowlist.")
    if count_allowances(db, project.id) >= MAX_ALLOWANCES:
        raise Invalid(f"The job token allowlist has {MAX_ALLOWANCES} projects and groups at most.")
    db.insert(job_token_allowances, project_id=project.id, place=place, created_at=db.now, **columns)


def _remove(db: Connection, project: Project, place: str, message: str) -> None:
    allowance_id = allowance_or_none(db, project.id, place)
    if allowance_id is None:
        raise Invalid(message)
    db.delete(job_token_allowances, allowance_id)
