"""Deletion of projects without activity, after a mail that warns their maintainers, if the instance does so."""

from sqlalchemy import and_, bindparam, or_, select

from ingot.accounts.instance.all_settings import AllSettings, all_settings
from ingot.accounts.users.tables import users
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp, add_duration, day_of
from ingot.core.jobs.queue import enqueue
from ingot.core.mail.queue import EXTERNAL_URL_PLACEHOLDER, send_mail
from ingot.core.names import NAMESPACES
from ingot.projects.namespaces.tables import memberships, namespace_tree
from ingot.projects.projects.delayed_deletion import schedule_project_deletion
from ingot.projects.projects.options import edited_options
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.service import delete_project
from ingot.projects.projects.tables import Project, projects

CHECK_INACTIVE_PROJECT = "check_inactive_project"
DAYS_PER_MONTH = 30
_INACTIVE = (
    select(projects.c.id)
    .where(
        projects.c.namespace_id.is_not(None),
        projects.c.last_activity_at < bindparam("since"),
        projects.c.repository_size >= bindparam("size"),
    )
    .order_by(projects.c.id)
)
_MAINTAINERS = (
    select(users.c.email)
    .join(memberships, memberships.c.user_id == users.c.id)
    .where(
        users.c.state == "active",
        users.c.bot.is_(False),
        or_(
            and_(
                memberships.c.source_kind == "project",
                memberships.c.source_id == bindparam("project"),
                memberships.c.access_level >= Level.MASTER,
            ),
            and_(
                memberships.c.source_kind == "group",
                memberships.c.source_id.in_(
                    select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
                ),
                memberships.c.access_level >= Level.OWNER,
            ),
        ),
    )
    .distinct()
    .order_by(users.c.email)
)


def enqueue_inactive_projects(db: Connection) -> None:
    """Enqueue the check of each project without activity, if the instance deletes them."""
    settings = all_settings(db)
    if not settings.delete_inactive_projects:
        return
    since = _months_before(db.now, settings.inactive_projects_send_warning_email_after_months)
    for (project_id,) in db.rows(_INACTIVE, since=since, size=settings.inactive_projects_min_size_mb * 2**20):
        enqueue(db, CHECK_INACTIVE_PROJECT, project_id, unique_key=f"{CHECK_INACTIVE_PROJECT}:{project_id}")


def check_inactive_project(database: Database, project_id: int) -> None:
    """Warn the maintainers of a project without activity, or delete it if they were warned long enough before."""

    def check(db: Connection) -> None:
        db.lock(NAMESPACES)
        settings, project = all_settings(db), project_or_none(db, project_id)
        if project is None or not settings.delete_inactive_projects or not _is_inactive(db, settings, project):
            return
        warned_on = project.options.inactivity_warned_on
        if warned_on is None or warned_on < day_of(project.last_activity_at):
            _warn(db, settings, project)
        elif warned_on <= day_of(_months_before(db.now, _months_after_warning(settings))):
            _delete(db, settings, project)

    database.write(check)


def _is_inactive(db: Connection, settings: AllSettings, project: Project) -> bool:
    since = _months_before(db.now, settings.inactive_projects_send_warning_email_after_months)
    is_large = project.repository_size >= settings.inactive_projects_min_size_mb * 2**20
    return project.last_activity_at < since and is_large and project.options.marked_for_deletion_on is None


def _months_after_warning(settings: AllSettings) -> int:
    return settings.inactive_projects_delete_after_months - settings.inactive_projects_send_warning_email_after_months


def _warn(db: Connection, settings: AllSettings, project: Project) -> None:
    document = edited_options(project.options_document, {"inactivity_warned_on": day_of(db.now)})
    db.update(projects, project.id, options_document=document)
    deleted_on = day_of(add_duration(db.now, days=_months_after_warning(settings) * DAYS_PER_MONTH))
    text = (
        f"The project {project.full_name} has had no activity since {day_of(project.last_activity_at)} and will be "
        f"deleted on {deleted_on}.\n\nTo keep it, push to it or change something in it:\n"
        f"{EXTERNAL_URL_PLACEHOLDER}/{project.full_path}\n"
    )
    for (address,) in db.rows(_MAINTAINERS, project=project.id, namespace=project.namespace_id):
        send_mail(db, address, f"{project.full_name} will be deleted", text)


def _delete(db: Connection, settings: AllSettings, project: Project) -> None:
    if settings.deletion_adjourned_period > 0:
        schedule_project_deletion(db, Actor(admin=True), project)
    else:
        delete_project(db, project)


def _months_before(now: Timestamp, months: int) -> Timestamp:
    return add_duration(now, days=-months * DAYS_PER_MONTH)
