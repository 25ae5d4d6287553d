"""Emails about comments on commits, to mentioned users with permission to read the code."""

import secrets
from functools import partial
from html import escape
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.notes.queries import find_note
from ingot.collaboration.participants.commits import readers_of_code
from ingot.collaboration.participants.events import UsersMentioned
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.core.jobs.queue import enqueue
from ingot.core.mail.queue import send_mail
from ingot.core.markup.links import LinkContext
from ingot.core.settings import Settings
from ingot.git.core.errors import MissingRepository
from ingot.git.history.commits import commit_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.notifications.emails import RenderedText, render_text
from ingot.notifications.queries import notification_email_of
from ingot.notifications.recipients import mentioned_recipients
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.commits.views import truncated_title

NOTIFY_OF_COMMIT = "notify_of_commit"


class CommitNotification(msgspec.Struct, frozen=True):
    """A comment on a commit that mentions users."""

    key: str
    project_id: int
    note_id: int
    actor_id: int
    people: tuple[int, ...]


class _Plan(NamedTuple):
    """Content and recipients of the emails."""

    project: Project
    oid: str
    text: str
    actor_name: str
    addresses: list[tuple[int, str]]
    in_html: bool


def notify_of_commit_note(db: Connection, event: UsersMentioned) -> None:
    """Enqueue a job that notifies the mentioned users."""
    project_id, note_id = event.subject.project_id, event.note_id
    if project_id is not None and note_id is not None:
        notification = CommitNotification(secrets.token_hex(8), project_id, note_id, event.writer_id, event.user_ids)
        enqueue(db, NOTIFY_OF_COMMIT, notification)


class CommitMailJob:
    """Handler of jobs that email users mentioned in a comment on a commit."""

    def __init__(self, settings: Settings, store: RepositoryStore) -> None:
        self._base_url = settings.base_url
        self._store = store

    def run(self, database: Database, payload: object) -> None:
        """Queue an email for each recipient with permission to read the code."""
        notification = msgspec.convert(payload, CommitNotification)
        plan = database.read(lambda db: _plan(db, notification))
        title = self._title(plan) if plan is not None and plan.addresses else None
        if plan is not None and title is not None:
            link_context = LinkContext(self._base_url, plan.project.full_path)
            rendered = render_text(plan.text, link_context, in_html=plan.in_html)
            database.write(partial(self._send, notification=notification, plan=plan, title=title, rendered=rendered))

    def _title(self, plan: _Plan) -> str | None:
        """Return the title of the commit; None if it no longer exists, then no email is sent."""
        try:
            commit = commit_or_none(self._store.open(plan.project.repository_key), plan.oid)
        except MissingRepository:  # Deleted since the row was read.
            return None
        return truncated_title(commit) if commit is not None else None

    def _send(
        self, db: Connection, notification: CommitNotification, plan: _Plan, title: str, rendered: RenderedText
    ) -> None:
        sentence = f"{plan.actor_name} mentioned you in commit {plan.oid[:8]}:"
        url = f"{self._base_url}/{plan.project.full_path}/commit/{plan.oid}#note_{notification.note_id}"
        html = (
            f"<html><body><p>{escape(sentence)}</p><div>{rendered.html}</div>"
            f'<p style="color:#666;font-size:small">&mdash;<br><a href="{escape(url)}">View it</a>.</p></body></html>'
        )
        for user_id, address in plan.addresses:
            send_mail(
                db,
                address,
                f"Re: {plan.project.name} | {title} ({plan.oid[:8]})",
                f"{sentence}\n\n{rendered.text}\n\n-- \nView it: {url}\n",
                html=html if plan.in_html else None,
                sender=plan.actor_name,
                headers=self._headers(plan),
                key=f"<{notification.key}.{user_id}@ingot>",
            )

    def _headers(self, plan: _Plan) -> dict[str, str]:
        """Return headers with the thread and list; without unsubscribe links, since commits have no subscriptions."""
        host = urlsplit(self._base_url).hostname or "localhost"
        list_name = ".".join(reversed(plan.project.full_path.split("/")))
        thread_id = f"<commit_{plan.project.id}_{plan.oid}@{host}>"
        return {
            "List-Id": f"<{list_name}.{host}>",
            "In-Reply-To": thread_id,
            "References": thread_id,
            "Auto-Submitted": "auto-generated",
        }


def _plan(db: Connection, notification: CommitNotification) -> _Plan | None:
    project = project_or_none(db, notification.project_id)
    if project is None or project.namespace_id is None:
        return None
    try:
        note = find_note(db, notification.note_id)
    except NotFound:  # The note was deleted before the job ran.
        return None
    candidates = mentioned_recipients(db, project, notification.people, notification.actor_id)
    recipient_ids = readers_of_code(db, project, candidates) if candidates else []
    if not recipient_ids or note.commit_oid is None:
        return None
    users = users_by_ids(db, [notification.actor_id, *recipient_ids])
    actor = users.get(notification.actor_id)
    confirmed = [users[user_id] for user_id in recipient_ids if users[user_id].confirmed_at is not None]
    return _Plan(
        project,
        note.commit_oid,
        note.body,
        actor.name if actor else "A deleted user",
        [(user.id, notification_email_of(db, user)) for user in confirmed],
        current_settings(db).html_emails_enabled,
    )
