"""Emails about finished pipelines, to the user who pushed the commit."""

from html import escape
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import bindparam, select

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.queries import user_or_none
from ingot.collaboration.participants.commits import readers_of_code
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.core.mail.queue import send_mail
from ingot.core.settings import Settings
from ingot.notifications.params import LEVELS, ON_BY_DEFAULT
from ingot.notifications.queries import (
    ancestor_groups,
    notification_email_of,
    notification_levels_of,
    sends_mail,
)
from ingot.pipelines.events import PipelineChanged
from ingot.pipelines.queries import find_pipeline
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.tables import ref_changes

NOTIFY_OF_PIPELINE = "notify_of_pipeline"
_WORDS = {"failed": "has failed", "success": "has succeeded"}
_PUSHER = (
    select(ref_changes.c.actor_id)
    .where(
        ref_changes.c.project_id == bindparam("project"),
        ref_changes.c.new == bindparam("sha"),
        ref_changes.c.actor_id.is_not(None),
    )
    .order_by(ref_changes.c.id.desc())
    .limit(1)
)


class PipelineNotification(msgspec.Struct, frozen=True):
    """A finished pipeline."""

    key: str
    project_id: int
    pipeline_id: int
    status: str
    user_id: int | None = None
    addresses: list[str] = []
    """Recipients that an integration of the project names, instead of a user."""


def recipient_or_none(db: Connection, event: PipelineChanged) -> int | None:
    """Return the user who last pushed the commit, or else reported its status, if notified of this event.

    None otherwise.
    """
    project = project_or_none(db, event.project_id) if event.status in _WORDS else None
    if project is None or project.namespace_id is None:
        return None
    pipeline = find_pipeline(db, project.id, event.pipeline_id)
    user_id = pusher_id_or_none(db, pipeline)
    if user_id is None or not sends_mail(db, project) or not _wants(db, project, user_id, f"{event.status}_pipeline"):
        return None
    return user_id


def pusher_id_or_none(db: Connection, pipeline: Pipeline) -> int | None:
    """Return the user who last pushed the commit of a pipeline, or else reported its status."""
    return db.value(_PUSHER, project=pipeline.project_id, sha=pipeline.sha) or pipeline.user_id


def _wants(db: Connection, project: Project, user_id: int, flag: str) -> bool:
    """Return whether the user's level includes the event: failures by default, successes only if chosen."""
    setting = notification_levels_of(db, project, ancestor_groups(db, project), [user_id])[user_id]
    if setting.level == LEVELS["custom"]:
        return setting.events.get(flag, flag in ON_BY_DEFAULT)
    return flag in ON_BY_DEFAULT and setting.level in (LEVELS["watch"], LEVELS["participating"])


class PipelineMailJob:
    """Handler of jobs that email users about their finished pipelines."""

    def __init__(self, settings: Settings) -> None:
        self._base_url = settings.base_url

    def run(self, database: Database, payload: object) -> None:
        """Queue the email, unless the user no longer has permission to read the code."""
        notification = msgspec.convert(payload, PipelineNotification)
        database.write(lambda db: self._send(db, notification))

    def _send(self, db: Connection, notification: PipelineNotification) -> None:
        project = project_or_none(db, notification.project_id)
        recipients = [] if project is None else self._recipients(db, project, notification)
        if project is None or not recipients:
            return
        try:
            pipeline = find_pipeline(db, project.id, notification.pipeline_id)
        except NotFound:  # Deleted before the job ran.
            return
        sentence = f"Pipeline #{pipeline.id} {_WORDS[notification.status]} for {pipeline.ref} ({pipeline.sha[:8]})"
        url = f"{self._base_url}/{project.full_path}/pipelines/{pipeline.id}"
        html = f'<html><body><p>{escape(sentence)}</p><p><a href="{escape(url)}">View it</a>.</p></body></html>'
        for name, address in recipients:
            send_mail(
                db,
                address,
                f"{project.name} | {sentence}",
                f"{sentence}.\n\n-- \nView it: {url}\n",
                html=html if current_settings(db).html_emails_enabled else None,
                headers=self._headers(project, pipeline),
                key=f"<{notification.key}.{name}@ingot>",
            )

    def _recipients(
        self, db: Connection, project: Project, notification: PipelineNotification
    ) -> list[tuple[str, str]]:
        """Return the unique names of the recipients and their addresses."""
        if notification.user_id is None:
            return [(str(number), address) for number, address in enumerate(notification.addresses)]
        user = user_or_none(db, notification.user_id)
        if user is None or user.confirmed_at is None or not readers_of_code(db, project, [user.id]):
            return []
        return [(str(user.id), notification_email_of(db, user))]

    def _headers(self, project: Project, pipeline: Pipeline) -> dict[str, str]:
        host = urlsplit(self._base_url).hostname or "localhost"
        list_name = ".".join(reversed(project.full_path.split("/")))
        thread_id = f"<pipeline_{pipeline.id}@{host}>"
        return {
            "List-Id": f"<{list_name}.{host}>",
            "In-Reply-To": thread_id,
            "References": thread_id,
            "Auto-Submitted": "auto-generated",
        }
