"""Jobs that determine the recipients of a notification and queue an email for each."""

from functools import partial
from typing import NamedTuple

import msgspec

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.merge_requests.versions.positions import DiffPosition
from ingot.collaboration.notes.queries import find_note
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.participants.queries import subject_kind_or_none
from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.core.mail.queue import send_mail
from ingot.core.markup.links import LinkContext
from ingot.core.settings import Settings
from ingot.git.maintenance.store import RepositoryStore
from ingot.notifications import emails
from ingot.notifications.diff_excerpts import excerpt_lines, shown_position, with_excerpt
from ingot.notifications.emails import MailContext, RenderedText
from ingot.notifications.payload import Notification
from ingot.notifications.queries import notification_email_of
from ingot.notifications.recipients import recipients_of
from ingot.notifications.unsubscribe_links import UnsubscribeRequest, unsubscribe_key
from ingot.projects.projects.queries import project_or_none


class _Plan(NamedTuple):
    """Content and recipients of the emails."""

    context: MailContext
    addresses: list[tuple[int, str]]
    in_html: bool
    position: DiffPosition | None
    """The position in a diff that the emails show, if any."""


class NotificationJob:
    """Handler of notification jobs."""

    def __init__(self, settings: Settings, store: RepositoryStore) -> None:
        self._base_url = settings.base_url
        self._store = store

    def notify(self, database: Database, payload: object) -> None:
        """Queue an email for each recipient of a notification; a retried job sends identical emails."""
        notification = msgspec.convert(payload, Notification)
        plan = database.read(lambda db: self._plan(db, notification))
        if plan is not None and plan.addresses:
            # Rendering takes long and the writer thread is shared, so it happens before the transaction.
            context = plan.context
            link_context = LinkContext(context.base_url, context.project.full_path)
            quoted = emails.render_text(context.text, link_context, in_html=plan.in_html)
            if plan.position is not None:
                lines = excerpt_lines(self._store, context.project, plan.position)
                quoted = with_excerpt(quoted, plan.position.new_path, lines)
            database.write(partial(self._send, plan=plan, quoted=quoted))

    def _plan(self, db: Connection, notification: Notification) -> _Plan | None:
        kind = subject_kind_or_none(db, notification.kind)
        subject = kind.subjects(db, [notification.subject_id]).get(notification.subject_id) if kind else None
        project = project_or_none(db, subject.project_id or 0) if subject else None
        if kind is None or subject is None or project is None or project.namespace_id is None:
            return None
        try:
            note = find_note(db, notification.note_id) if notification.note_id is not None else None
        except NotFound:  # The note was deleted before the job ran.
            return None
        recipient_ids = recipients_of(
            db, kind, subject, project, notification, internal=note is not None and note.internal
        )
        if not recipient_ids:
            return None
        users = users_by_ids(db, [notification.actor_id, *recipient_ids])
        actor = users.get(notification.actor_id)
        settings = current_settings(db)
        context = MailContext(
            notification,
            kind,
            subject,
            project,
            actor.name if actor else "A deleted user",
            _assignees(db, kind, subject),
            _text(db, kind, subject, notification, note),
            self._base_url,
        )
        confirmed = [users[user_id] for user_id in recipient_ids if users[user_id].confirmed_at is not None]
        return _Plan(
            context,
            [(user.id, notification_email_of(db, user)) for user in confirmed],
            settings.html_emails_enabled,
            shown_position(db, project, note),
        )

    def _send(self, db: Connection, plan: _Plan, quoted: RenderedText) -> None:
        context = plan.context
        for user_id, address in plan.addresses:
            recipient = UnsubscribeRequest(user_id, context.notification.kind, context.notification.subject_id)
            unsubscribe_url = f"{self._base_url}/sent_notifications/{unsubscribe_key(db.vault, recipient)}/unsubscribe"
            send_mail(
                db,
                address,
                emails.subject_line(context),
                emails.text_body(context, quoted.text, unsubscribe_url),
                html=emails.html_body(context, quoted.html, unsubscribe_url) if plan.in_html else None,
                sender=context.actor_name,
                headers=emails.headers(context, unsubscribe_url),
                key=f"<{context.notification.key}.{user_id}@ingot>",
            )


def _assignees(db: Connection, kind: SubjectKind, subject: Subject) -> list[str]:
    numbers = kind.assignees(db, subject)
    users = users_by_ids(db, numbers)
    return [users[number].username for number in numbers if number in users]


def _text(db: Connection, kind: SubjectKind, subject: Subject, notification: Notification, note: Note | None) -> str:
    if note is not None:
        return note.body
    return kind.text(db, subject) if notification.what in ("opened", "mentioned") else ""
