"""What chats and mail hear."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.announcements.referring import TELL_JIRA, Mention, TellJira
from ingot.announcements.service import keep_hook
from ingot.announcements.work import MAIL_PUSHES, MailPushes, PushedRef
from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.git.updating import RefUpdate
from ingot.hooks.payloads.merging import page_of
from ingot.hooks.payloads.parts import project_url
from ingot.hooks.payloads.pushes import push_payload
from ingot.hooks.subscribers import mark_of, unread_push
from ingot.jobs.queue import enqueue
from ingot.merge_requests.events import MergeRequestChanged
from ingot.merge_requests.queries import merge_request_by_id
from ingot.merge_requests.tables import MergeRequest
from ingot.notes.events import NoteAdded
from ingot.notes.queries import find_note
from ingot.projects.queries import project_or_none
from ingot.projects.tables import Project
from ingot.projects.views import Addresses
from ingot.repository.changes.events import RefsChanged
from ingot.services.branches import wants_ref
from ingot.services.events import ServiceChanged
from ingot.services.queries import active_service_or_none
from ingot.services.registry import REGISTRY
from ingot.services.tables import Service
from ingot.services.trackers import tracker_of
from ingot.users.accounts.queries import user_or_none

MOST_REFS = 20
"""Of one push; who mirrors a repository does not mean to write a mail for each of its branches."""


def announcement_subscriptions(at: Addresses) -> Subscriptions:
    """What services hear, with addresses in it by which people reach this instance."""
    subscriptions = Subscriptions()
    teller = _Teller(at)
    subscriptions.on(ServiceChanged)(teller.hear_service)
    subscriptions.on(RefsChanged)(teller.hear_push)
    subscriptions.on(RefsChanged)(teller.hear_commits)
    subscriptions.on(MergeRequestChanged)(teller.hear_merge_request)
    subscriptions.on(NoteAdded)(teller.hear_note)
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
        wanted = [update for update in event.updates if _is_wanted(service, project, update)]
        if wanted:
            pushed = self._pushed(db, project, event.actor_id, wanted)
            enqueue(db, MAIL_PUSHES, MailPushes(service.id, project.repository_key, pushed))

    def hear_commits(self, db: Connection, event: RefsChanged) -> None:
        """Commits came, which may mention issues that are kept in Jira."""
        wanted = [update for update in event.updates if update.branch is not None and not update.deletes]
        service = _jira(db, event.project_id, "commit_events") if wanted else None
        project = project_or_none(db, event.project_id) if service else None
        if service is not None and project is not None:
            pushed = self._pushed(db, project, event.actor_id, wanted)
            enqueue(db, TELL_JIRA, TellJira(service.id, pushed=pushed))

    def hear_merge_request(self, db: Connection, event: MergeRequestChanged) -> None:
        """A merge request mentions issues that are kept in Jira, or has solved them."""
        said = event.action == "opened" or bool({"title", "description"} & set(event.changes))
        service = _jira(db, event.project_id, "merge_requests_events") if said or event.action == "merged" else None
        if service is not None:
            found = merge_request_by_id(db, event.merge_request_id)
            text = f"{found.title}\n\n{found.description or ''}"
            self._tell_jira(db, service, found, event.actor_id, text, merged=event.action == "merged")

    def hear_note(self, db: Connection, event: NoteAdded) -> None:
        """Somebody mentions issues that are kept in Jira on a merge request; not among those who work on it alone."""
        if event.subject_kind != "merge_request" or event.internal or event.project_id is None:
            return
        service = _jira(db, event.project_id, "merge_requests_events")
        if service is not None and event.subject_id is not None:
            found = merge_request_by_id(db, event.subject_id)
            self._tell_jira(db, service, found, event.author_id, find_note(db, event.note_id).body, merged=False)

    def _tell_jira(
        self, db: Connection, service: Service, found: MergeRequest, actor_id: int, text: str, *, merged: bool
    ) -> None:
        project, user = project_or_none(db, found.target_project_id), user_or_none(db, actor_id)
        if project is None or user is None or not tracker_of(service).mentioned_by(text):
            return
        solves = merged and found.target_branch == project.default_branch
        if merged and not solves:
            return
        url = project_url(project, self._at)
        mention = Mention(
            what="merge request",
            title=found.title,
            url=f"{url}/{page_of(found)}",
            who=user.name,
            who_url=f"{self._at.base}/{user.username}",
            project=project.full_path,
            text=text,
            commit=found.head_oid if solves else None,
            commit_url=f"{url}/commit/{found.head_oid}",
            told=merged,
        )
        enqueue(db, TELL_JIRA, TellJira(service.id, mentions=[mention]))

    def _pushed(
        self, db: Connection, project: Project, actor_id: int | None, updates: Sequence[RefUpdate]
    ) -> list[PushedRef]:
        user = user_or_none(db, actor_id) if actor_id else None
        mark = mark_of(db, project)
        return [
            PushedRef(_encoded(push_payload(each, project, user, self._at)), _encoded(unread_push(project, each, mark)))
            for each in updates[:MOST_REFS]
        ]


def _jira(db: Connection, project_id: int, event: str) -> Service | None:
    """How a project is connected to Jira, where it is to hear of something."""
    service = active_service_or_none(db, project_id, "jira")
    return service if service is not None and event in msgspec.json.decode(service.events) else None


def _is_wanted(service: Service, project: Project, update: RefUpdate) -> bool:
    events, known = msgspec.json.decode(service.events), msgspec.json.decode(service.properties)
    if update.branch is None:
        return update.tag is not None and "tag_push_events" in events
    chosen = wants_ref(known.get("branches_to_be_notified"), update.branch, project.default_branch)
    return "push_events" in events and chosen


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value).decode()
