"""Mail about comments on commits: to those whom a comment names and who may read the code."""

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
from ingot.core.jobs.queue import enqueue
from ingot.core.mail.delivery import send_mail
from ingot.core.markup.links import LinkContext
from ingot.discovery.notifications.emails import RenderedText, render_text
from ingot.discovery.notifications.queries import notification_email_of
from ingot.discovery.notifications.recipients import mentioned_recipients
from ingot.errors import NotFound
from ingot.git.core.errors import MissingRepository
from ingot.git.history.commits import commit_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.commits.views import truncated_title
from ingot.settings import Settings

NOTIFY_OF_COMMIT = "notify_of_commit"


class CommitNotice(msgspec.Struct, frozen=True):
    """A comment on a commit names people."""

    key: str
    project_id: int
    note_id: int
    actor_id: int
    people: tuple[int, ...]


class _Plan(NamedTuple):
    """What is told, and to whom."""

    project: Project
    oid: str
    text: str
    actor_name: str
    addresses: list[tuple[int, str]]
    in_html: bool


def notify_of_commit_note(db: Connection, event: UsersMentioned) -> None:
    """Let a job tell those who are named."""
    project_id, note_id = event.subject.project_id, event.note_id
    if project_id is not None and note_id is not None:
        notice = CommitNotice(secrets.token_hex(8), project_id, note_id, event.writer_id, event.people)
        enqueue(db, NOTIFY_OF_COMMIT, notice)


class CommitMailJob:
    """Tells people that a comment on a commit names them."""

    def __init__(self, settings: Settings, store: RepositoryStore) -> None:
        self._base_url = settings.base_url
        self._store = store

    def run(self, database: Database, payload: object) -> None:
        """Leave a letter for each; who may not read the code any more gets none."""
        notice = msgspec.convert(payload, CommitNotice)
        plan = database.read(lambda db: _plan(db, notice))
        title = self._title(plan) if plan is not None and plan.addresses else None
        if plan is not None and title is not None:
            place = LinkContext(self._base_url, plan.project.full_path)
            said = render_text(plan.text, place, in_html=plan.in_html)
            database.write(partial(self._send, notice=notice, plan=plan, title=title, said=said))

    def _title(self, plan: _Plan) -> str | None:
        """What the commit is called; nothing where it is gone, and nobody could read about it."""
        try:
            commit = commit_or_none(self._store.open(plan.project.repository_key), plan.oid)
        except MissingRepository:  # Deleted since the row was read.
            return None
        return truncated_title(commit) if commit is not None else None

    def _send(self, db: Connection, notice: CommitNotice, plan: _Plan, title: str, said: RenderedText) -> None:
        sentence = f"{plan.actor_name} mentioned you in commit {plan.oid[:8]}:"
        url = f"{self._base_url}/{plan.project.full_path}/commit/{plan.oid}#note_{notice.note_id}"
        html = (
            f"<html><body><p>{escape(sentence)}</p><div>{said.html}</div>"
            f'<p style="color:#666;font-size:small">&mdash;<br><a href="{escape(url)}">Read it</a>.</p></body></html>'
        )
        for user_id, address in plan.addresses:
            send_mail(
                db,
                address,
                f"Re: {plan.project.name} | {title} ({plan.oid[:8]})",
                f"{sentence}\n\n{said.text}\n\n-- \nRead it: {url}\n",
                html=html if plan.in_html else None,
                sender=plan.actor_name,
                headers=self._headers(plan),
                key=f"<{notice.key}.{user_id}@ingot>",
            )

    def _headers(self, plan: _Plan) -> dict[str, str]:
        """Which conversation it is, and which list; nobody follows commits, so that there is nothing to leave."""
        host = urlsplit(self._base_url).hostname or "localhost"
        listed = ".".join(reversed(plan.project.full_path.split("/")))
        first = f"<commit_{plan.project.id}_{plan.oid}@{host}>"
        return {
            "List-Id": f"<{listed}.{host}>",
            "In-Reply-To": first,
            "References": first,
            "Auto-Submitted": "auto-generated",
        }


def _plan(db: Connection, notice: CommitNotice) -> _Plan | None:
    project = project_or_none(db, notice.project_id)
    if project is None or project.namespace_id is None:
        return None
    try:
        note = find_note(db, notice.note_id)
    except NotFound:  # It was taken back before anybody was told.
        return None
    wanting = mentioned_recipients(db, project, notice.people, notice.actor_id)
    told = readers_of_code(db, project, wanting) if wanting else []
    if not told or note.commit_oid is None:
        return None
    people = users_by_ids(db, [notice.actor_id, *told])
    actor = people.get(notice.actor_id)
    able = [people[user_id] for user_id in told if people[user_id].confirmed_at is not None]
    return _Plan(
        project,
        note.commit_oid,
        note.body,
        actor.name if actor else "Somebody",
        [(user.id, notification_email_of(db, user)) for user in able],
        current_settings(db).html_emails_enabled,
    )
