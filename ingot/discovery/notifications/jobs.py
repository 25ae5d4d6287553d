"""Jobs that determine the recipients of a notification and queue an email for each."""

from functools import partial
from typing import NamedTuple

import msgspec

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.notes.queries import find_note
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.participants.queries import subject_kind_or_none
from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.mail.queue import send_mail
from ingot.core.markup.links import LinkContext
from ingot.discovery.notifications import emails
from ingot.discovery.notifications.emails import MailContext, RenderedText
from ingot.discovery.notifications.notices import Notice
from ingot.discovery.notifications.queries import notification_email_of
from ingot.discovery.notifications.recipients import recipients_of
from ingot.discovery.notifications.unsubscribe_links import UnsubscribeRequest, unsubscribe_key
from ingot.errors import NotFound
from ingot.projects.projects.queries import project_or_none
from ingot.settings import Settings


class _Plan(NamedTuple):
    """Content and recipients of the emails."""

    context: MailContext
    addresses: list[tuple[int, str]]
    in_html: bool


class NotificationJob:
    """Handler of notification jobs."""

    def __init__(self, settings: Settings) -> None:
        self._base_url = settings.base_url

    def notify(self, database: Database, payload: object) -> None:
        """Queue an email for each recipient of a notice; a retried job sends identical emails."""
        notice = msgspec.convert(payload, Notice)
        plan = database.read(lambda db: self._plan(db, notice))
        if plan is not None and plan.addresses:
            # Rendering takes long and the writer thread is shared, so it happens before the transaction.
            context = plan.context
            link_context = LinkContext(context.base_url, context.project.full_path)
            quoted = emails.render_text(context.text, link_context, in_html=plan.in_html)
            database.write(partial(self._send, plan=plan, quoted=quoted))

    def _plan(self, db: Connection, notice: Notice) -> _Plan | None:
        kind = subject_kind_or_none(db, notice.kind)
        subject = kind.subjects(db, [notice.subject_id]).get(notice.subject_id) if kind else None
        project = project_or_none(db, subject.project_id or 0) if subject else None
        if kind is None or subject is None or project is None or project.namespace_id is None:
            return None
        try:
            note = find_note(db, notice.note_id) if notice.note_id is not None else None
        except NotFound:  # The note was deleted before the job ran.
            return None
        recipient_ids = recipients_of(db, kind, subject, project, notice, internal=note is not None and note.internal)
        if not recipient_ids:
            return None
        users = users_by_ids(db, [notice.actor_id, *recipient_ids])
        actor = users.get(notice.actor_id)
        settings = current_settings(db)
        context = MailContext(
            notice,
            kind,
            subject,
            project,
            actor.name if actor else "A deleted user",
            _assignees(db, kind, subject),
            _text(db, kind, subject, notice, note),
            self._base_url,
        )
        confirmed = [users[user_id] for user_id in recipient_ids if users[user_id].confirmed_at is not None]
        return _Plan(
            context, [(user.id, notification_email_of(db, user)) for user in confirmed], settings.html_emails_enabled
        )

    def _send(self, db: Connection, plan: _Plan, quoted: RenderedText) -> None:
        context = plan.context
        for user_id, address in plan.addresses:
            recipient = UnsubscribeRequest(user_id, context.notice.kind, context.notice.subject_id)
            unsubscribe_url = f"{self._base_url}/sent_notifications/{unsubscribe_key(db.vault, recipient)}/unsubscribe"
            send_mail(
                db,
                address,
                emails.subject_line(context),
                emails.text_body(context, quoted.text, unsubscribe_url),
                html=emails.html_body(context, quoted.html, unsubscribe_url) if plan.in_html else None,
                sender=context.actor_name,
                headers=emails.headers(context, unsubscribe_url),
                key=f"<{context.notice.key}.{user_id}@ingot>",
            )


def _assignees(db: Connection, kind: SubjectKind, subject: Subject) -> list[str]:
    numbers = kind.assignees(db, subject)
    users = users_by_ids(db, numbers)
    return [users[number].username for number in numbers if number in users]


def _text(db: Connection, kind: SubjectKind, subject: Subject, notice: Notice, note: Note | None) -> str:
    if note is not None:
        return note.body
    return kind.text(db, subject) if notice.what in ("opened", "mentioned") else ""
