"""Subscribers of services to events."""

from collections.abc import Sequence
from secrets import token_hex
from typing import Any

import msgspec

from ingot.accounts.users.queries import user_or_none
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.notes.events import NoteAdded
from ingot.collaboration.notes.queries import find_note
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import enqueue
from ingot.git.writing.ref_updates import RefUpdate
from ingot.integrations.branches import notifies_branch
from ingot.integrations.chat_webhooks import sync_hook
from ingot.integrations.events import ServiceChanged
from ingot.integrations.jira_references import NOTIFY_JIRA, JiraMention, NotifyJira
from ingot.integrations.jobs import MAIL_PUSHES, MailPushes, PushedRef
from ingot.integrations.message_formats import message_format, notifies_pipeline
from ingot.integrations.queries import active_service_or_none
from ingot.integrations.recipients import parse_recipients
from ingot.integrations.registry import REGISTRY
from ingot.integrations.tables import Service
from ingot.integrations.trackers import tracker_from_service
from ingot.notifications.pipelines import NOTIFY_OF_PIPELINE, PipelineNotification, pusher_id_or_none
from ingot.notifications.queries import notification_email_of
from ingot.pipelines.events import PipelineChanged
from ingot.pipelines.queries import find_pipeline
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls, with_clone_root
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.webhooks.payloads.merge_requests import merge_request_page
from ingot.webhooks.payloads.parts import project_url
from ingot.webhooks.payloads.pushes import push_payload
from ingot.webhooks.subscribers import last_ref_change, pending_push_completion

MAX_REFS = 20
"""Limit per push; mirroring a repository should not send an email for each branch."""


def integration_subscriptions(urls: InstanceUrls) -> Subscriptions:
    """Return the subscriptions of services; ``urls`` are the public URLs of this instance."""
    subscriptions = Subscriptions()
    subscriber = _IntegrationSubscriber(urls)
    subscriptions.on(ServiceChanged)(subscriber.sync_chat_hook)
    subscriptions.on(RefsChanged)(subscriber.on_push)
    subscriptions.on(RefsChanged)(subscriber.on_commits)
    subscriptions.on(MergeRequestChanged)(subscriber.on_merge_request)
    subscriptions.on(NoteAdded)(subscriber.on_note)
    subscriptions.on(PipelineChanged)(mail_pipeline)
    return subscriptions


class _IntegrationSubscriber:
    def __init__(self, urls: InstanceUrls) -> None:
        self._urls = urls

    def sync_chat_hook(self, db: Connection, event: ServiceChanged) -> None:
        """Update the webhook of a service that sends requests and whose settings have changed."""
        if REGISTRY[event.service.slug].kind in ("chat", "request"):
            sync_hook(db, event.service)

    def on_push(self, db: Connection, event: RefsChanged) -> None:
        """Enqueue emails about a push, if the project has them enabled."""
        service = active_service_or_none(db, event.project_id, "emails-on-push")
        project = project_or_none(db, event.project_id) if service else None
        if service is None or project is None:
            return
        updates = [update for update in event.updates if _should_mail(service, project, update)]
        if updates:
            pushed = self._pushed_refs(db, project, event.actor_id, updates)
            enqueue(db, MAIL_PUSHES, MailPushes(service.id, project.repository_key, pushed, event.actor_id))

    def on_commits(self, db: Connection, event: RefsChanged) -> None:
        """Enqueue a search for Jira issues mentioned in pushed commits."""
        updates = [update for update in event.updates if update.branch is not None and not update.deletes]
        service = _jira_service_or_none(db, event.project_id, "commit_events") if updates else None
        project = project_or_none(db, event.project_id) if service else None
        if service is not None and project is not None:
            pushed = self._pushed_refs(db, project, event.actor_id, updates)
            enqueue(db, NOTIFY_JIRA, NotifyJira(service.id, pushed=pushed))

    def on_merge_request(self, db: Connection, event: MergeRequestChanged) -> None:
        """Enqueue updates of Jira issues that a merge request mentions or, once merged, solves."""
        text_changed = event.action == "opened" or bool({"title", "description"} & set(event.changes))
        service = (
            _jira_service_or_none(db, event.project_id, "merge_requests_events")
            if text_changed or event.action == "merged"
            else None
        )
        if service is not None:
            merge_request = merge_request_by_id(db, event.merge_request_id)
            text = f"{merge_request.title}\n\n{merge_request.description or ''}"
            self._queue_jira_mention(db, service, merge_request, event.actor_id, text, merged=event.action == "merged")

    def on_note(self, db: Connection, event: NoteAdded) -> None:
        """Enqueue updates of Jira issues mentioned in a note on a merge request, unless it is internal."""
        if event.subject_kind != "merge_request" or event.internal or event.project_id is None:
            return
        service = _jira_service_or_none(db, event.project_id, "merge_requests_events")
        if service is not None and event.subject_id is not None:
            merge_request = merge_request_by_id(db, event.subject_id)
            self._queue_jira_mention(
                db, service, merge_request, event.author_id, find_note(db, event.note_id).body, merged=False
            )

    def _queue_jira_mention(
        self, db: Connection, service: Service, merge_request: MergeRequest, actor_id: int, text: str, *, merged: bool
    ) -> None:
        project, user = project_or_none(db, merge_request.target_project_id), user_or_none(db, actor_id)
        if project is None or user is None or not tracker_from_service(service).issues_mentioned_by(text):
            return
        is_solved = merged and merge_request.target_branch == project.default_branch
        if merged and not is_solved:
            return
        url = project_url(project, self._urls)
        mention = JiraMention(
            what="merge request",
            title=merge_request.title,
            url=f"{url}/{merge_request_page(merge_request)}",
            who=user.name,
            who_url=f"{self._urls.base}/{user.username}",
            project=project.full_path,
            text=text,
            commit=merge_request.head_oid if is_solved else None,
            commit_url=f"{url}/commit/{merge_request.head_oid}",
            told=merged,
        )
        enqueue(db, NOTIFY_JIRA, NotifyJira(service.id, mentions=[mention]))

    def _pushed_refs(
        self, db: Connection, project: Project, actor_id: int | None, updates: Sequence[RefUpdate]
    ) -> list[PushedRef]:
        user = user_or_none(db, actor_id) if actor_id else None
        last_change, urls = last_ref_change(db, project), with_clone_root(db, self._urls)
        return [
            PushedRef(
                _encode_json(push_payload(each, project, user, urls)),
                _encode_json(pending_push_completion(project, each, last_change)),
            )
            for each in updates[:MAX_REFS]
        ]


def mail_pipeline(db: Connection, event: PipelineChanged) -> None:
    """Enqueue emails about a finished pipeline, if the project has them enabled."""
    if event.status not in ("success", "failed"):
        return
    service = active_service_or_none(db, event.project_id, "pipelines-email")
    project = project_or_none(db, event.project_id) if service else None
    if service is None or project is None or "pipeline_events" not in msgspec.json.decode(service.events):
        return
    pipeline, properties = find_pipeline(db, project.id, event.pipeline_id), msgspec.json.decode(service.properties)
    filters = message_format(properties)
    if not notifies_pipeline(filters, event.status, pipeline.ref, project.default_branch, is_tag=pipeline.tag):
        return
    addresses = parse_recipients(properties.get("recipients", ""))
    pusher_id = pusher_id_or_none(db, pipeline) if properties.get("add_pusher") else None
    pusher = user_or_none(db, pusher_id) if pusher_id else None
    if pusher is not None and pusher.confirmed_at is not None:
        addresses.append(notification_email_of(db, pusher))
    notification = PipelineNotification(
        token_hex(8), project.id, pipeline.id, event.status, addresses=list(dict.fromkeys(addresses))
    )
    enqueue(db, NOTIFY_OF_PIPELINE, notification)


def _jira_service_or_none(db: Connection, project_id: int, event: str) -> Service | None:
    """Return the project's Jira service if it is active and subscribed to an event."""
    service = active_service_or_none(db, project_id, "jira")
    return service if service is not None and event in msgspec.json.decode(service.events) else None


def _should_mail(service: Service, project: Project, update: RefUpdate) -> bool:
    events, properties = msgspec.json.decode(service.events), msgspec.json.decode(service.properties)
    if update.branch is None:
        return update.tag is not None and "tag_push_events" in events
    is_notified = notifies_branch(properties.get("branches_to_be_notified"), update.branch, project.default_branch)
    return "push_events" in events and is_notified


def _encode_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
