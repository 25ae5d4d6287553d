"""What chats and mail hear."""

from typing import Any

import msgspec

from ingot.announcements.service import keep_hook
from ingot.announcements.work import MAIL_PUSHES, MailPushes, PushedRef
from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.git.updating import RefUpdate
from ingot.hooks.payloads.pushes import push_payload
from ingot.hooks.subscribers import mark_of, unread_push
from ingot.jobs.queue import enqueue
from ingot.projects.queries import project_or_none
from ingot.projects.tables import Project
from ingot.projects.views import Addresses
from ingot.repository.changes.events import RefsChanged
from ingot.services.branches import wants_ref
from ingot.services.events import ServiceChanged
from ingot.services.queries import active_service_or_none
from ingot.services.registry import REGISTRY
from ingot.services.tables import Service
from ingot.users.accounts.queries import user_or_none

MOST_REFS = 20
"""Of one push; who mirrors a repository does not mean to write a mail for each of its branches."""


def announcement_subscriptions(at: Addresses) -> Subscriptions:
    """What services hear, with addresses in it by which people reach this instance."""
    subscriptions = Subscriptions()
    teller = _Teller(at)
    subscriptions.on(ServiceChanged)(teller.hear_service)
    subscriptions.on(RefsChanged)(teller.hear_push)
    return subscriptions


class _Teller:
    def __init__(self, at: Addresses) -> None:
        self._at = at

    def hear_service(self, db: Connection, event: ServiceChanged) -> None:
        """A project is connected to a chat in another way than before."""
        if REGISTRY[event.service.slug].duty == "chat":
            keep_hook(db, event.service)

    def hear_push(self, db: Connection, event: RefsChanged) -> None:
        """Branches and tags have changed, of which mails may be wanted."""
        service = active_service_or_none(db, event.project_id, "emails-on-push")
        project = project_or_none(db, event.project_id) if service else None
        if service is None or project is None:
            return
        wanted = [update for update in event.updates if _is_wanted(service, project, update)][:MOST_REFS]
        if not wanted:
            return
        user = user_or_none(db, event.actor_id) if event.actor_id else None
        mark = mark_of(db, project)
        pushed = [
            PushedRef(_encoded(push_payload(each, project, user, self._at)), _encoded(unread_push(project, each, mark)))
            for each in wanted
        ]
        enqueue(db, MAIL_PUSHES, MailPushes(service.id, project.repository_key, pushed))


def _is_wanted(service: Service, project: Project, update: RefUpdate) -> bool:
    events, known = msgspec.json.decode(service.events), msgspec.json.decode(service.properties)
    if update.branch is None:
        return update.tag is not None and "tag_push_events" in events
    chosen = wants_ref(known.get("branches_to_be_notified"), update.branch, project.default_branch)
    return "push_events" in events and chosen


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value).decode()
