"""Subscribers of webhooks to events of projects; each one writes to the outbox in the same transaction."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import bindparam, func, select

from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.users.queries import user_or_none, users_by_ids
from ingot.accounts.users.tables import User
from ingot.ci.job_records.ports import JobArtifacts
from ingot.ci.job_records.queries import jobs_by_ids
from ingot.ci.runners.tables import Runner, runners
from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.milestones.events import MilestoneChanged
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.notes.events import NoteAdded
from ingot.collaboration.notes.queries import find_note
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.releases.queries import links_of_release
from ingot.collaboration.snippets.queries import first_file, snippet_by_id
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.events.bus import Subscriptions
from ingot.git.writing.ref_updates import RefUpdate
from ingot.pipelines.events import PipelineChanged, StatusChanged
from ingot.pipelines.queries import find_pipeline
from ingot.pipelines.tables import CommitStatus, commit_statuses
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls, with_clone_root
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.repositories.ref_changes.tables import ref_changes
from ingot.repositories.tags.events import ReleaseChanged
from ingot.repositories.wikis.events import WikiPageChanged
from ingot.webhooks.outbox import PendingCompletion, queue_event
from ingot.webhooks.payloads.issues import (
    ISSUE_ACTIONS,
    Changes,
    EventContext,
    commit_subject,
    issue_payload,
    issue_subject,
    milestone_payload,
    note_payload,
    snippet_subject,
)
from ingot.webhooks.payloads.merge_requests import (
    has_payload,
    merge_request_page,
    merge_request_payload,
    merge_request_subject,
)
from ingot.webhooks.payloads.parts import Payload, project_url
from ingot.webhooks.payloads.pipelines import (
    JobDetails,
    job_payload,
    pipeline_payload,
    release_payload,
    wiki_payload,
)
from ingot.webhooks.payloads.pushes import push_payload, system_tag_payload, update_payload
from ingot.webhooks.policy import matches_branch
from ingot.webhooks.queries import (
    SubscribedHook,
    hook_ids,
    push_subscribed_hooks,
    subscribed_hooks,
    subscribed_to_all_pushes,
)
from ingot.webhooks.tables import Hook

MAX_PUSH_EVENTS = 1000
"""Limit of the setting for the number of events that one push queues."""
_RUNNERS = select(runners).where(in_list(runners.c.id, "ids"))
_LAST_REF_CHANGE = select(func.max(ref_changes.c.id)).where(ref_changes.c.project_id == bindparam("project"))
_STATUSES = (
    select(commit_statuses)
    .where(commit_statuses.c.pipeline_id == bindparam("pipeline"), ~commit_statuses.c.retried)
    .order_by(commit_statuses.c.id)
)


def push_hook_subscriptions(urls: InstanceUrls) -> Subscriptions:
    """Return the subscription to pushes.

    Runs before the subscribers that react to a push, so that webhooks keep this order.
    """
    subscriptions = Subscriptions()
    subscriptions.on(RefsChanged)(HookSubscriber(urls).on_push)
    return subscriptions


def hook_subscriptions(urls: InstanceUrls) -> Subscriptions:
    """Return the other subscriptions of project webhooks; ``urls`` are the public URLs of this instance."""
    subscriptions = Subscriptions()
    subscriber = HookSubscriber(urls)
    subscriptions.on(IssueChanged)(subscriber.on_issue)
    subscriptions.on(MergeRequestChanged)(subscriber.on_merge_request)
    subscriptions.on(NoteAdded)(subscriber.on_note)
    subscriptions.on(StatusChanged)(subscriber.on_job)
    subscriptions.on(PipelineChanged)(subscriber.on_pipeline)
    subscriptions.on(WikiPageChanged)(subscriber.on_wiki_page)
    subscriptions.on(ReleaseChanged)(subscriber.on_release)
    subscriptions.on(MilestoneChanged)(subscriber.on_milestone)
    return subscriptions


class HookSubscriber:
    """Queues events for subscribed webhooks; does nothing without one."""

    def __init__(self, urls: InstanceUrls, only: Hook | None = None) -> None:
        self._urls = urls
        self._only = only
        """The only webhook to notify, regardless of its settings; used to test it."""

    def on_push(self, db: Connection, event: RefsChanged) -> None:
        """Queue a push of branches and tags, from any source, unless it changes too many of them.

        Events of 20,000 refs took more than five seconds, during which no other transaction could write.
        """
        subscribed = (
            push_subscribed_hooks(db, event.project_id)
            if self._only is None
            else [subscribed_to_all_pushes(self._only)]
        )
        project = project_or_none(db, event.project_id) if subscribed else None
        if project is None:
            return
        context = EventContext(project, _user(db, event.actor_id), with_clone_root(db, self._urls))
        last_change = last_ref_change(db, project)
        limit = min(all_settings(db).push_event_hooks_limit, MAX_PUSH_EVENTS)
        for update in event.updates if len(event.updates) <= limit else ():
            if update.branch is not None:
                _queue_branch_push(db, context, update, subscribed, last_change)
            elif update.tag is not None:
                _queue_tag_push(db, context, update, subscribed)
        system_hooks = [each.id for each in subscribed if each.kind == "system" and each.repository_update_events]
        if system_hooks:
            queue_event(db, "repository_update_events", update_payload(event.updates, *context), system_hooks)

    def on_issue(self, db: Connection, event: IssueChanged) -> None:
        """Queue a change of an issue; confidential issues have a separate event."""
        if event.action not in ISSUE_ACTIONS:
            return
        flag = "confidential_issues_events" if _is_confidential(db, event) else "issues_events"
        context, listeners = self._context_and_listeners(db, flag, event.project_id, event.actor_id)
        if context is not None:
            issue = issue_by_id(db, event.issue_id)
            queue_event(db, flag, issue_payload(db, context, issue, event.action, _visible_changes(event)), listeners)

    def on_note(self, db: Connection, event: NoteAdded) -> None:
        """Queue a new note; notes on confidential issues are confidential too."""
        if event.project_id is None:
            return
        confidential = event.internal
        if event.subject_kind == "issue" and event.subject_id is not None:
            confidential = confidential or issue_by_id(db, event.subject_id).confidential
        flag = "confidential_note_events" if confidential else "note_events"
        context, listeners = self._context_and_listeners(db, flag, event.project_id, event.author_id)
        if context is None:
            return
        note = find_note(db, event.note_id)
        subject, url, completion = _note_subject(db, context, note)
        payload = note_payload(context, note, subject, f"{project_url(context.project, self._urls)}/{url}")
        if confidential:
            payload["event_type"] = "confidential_note"
        queue_event(db, flag, payload, listeners, completion)

    def on_job(self, db: Connection, event: StatusChanged) -> None:
        """Queue changed commit statuses, each as one event."""
        context, listeners = self._context_and_listeners(db, "job_events", event.project_id, None)
        if context is None:
            return
        pipeline = find_pipeline(db, event.project_id, event.pipeline_id)
        completion = PendingCompletion(context.project.repository_key, "job", pipeline.sha)
        details = job_details(db, event.statuses)
        for status in _without_bridges(event.statuses, details):
            author = EventContext(context.project, _user(db, status.user_id), with_clone_root(db, self._urls))
            payload = job_payload(author, pipeline, status, details.get(status.id, JobDetails()))
            queue_event(db, "job_events", payload, listeners, completion)

    def on_pipeline(self, db: Connection, event: PipelineChanged) -> None:
        """Queue a changed pipeline."""
        pipeline = find_pipeline(db, event.project_id, event.pipeline_id)
        context, listeners = self._context_and_listeners(db, "pipeline_events", event.project_id, pipeline.user_id)
        if context is None:
            return
        statuses = db.all(CommitStatus, _STATUSES, pipeline=pipeline.id)
        details = job_details(db, statuses)
        statuses = _without_bridges(statuses, details)
        users = users_by_ids(db, [status.user_id for status in statuses])
        payload = pipeline_payload(context, pipeline, statuses, users, details)
        queue_event(
            db,
            "pipeline_events",
            payload,
            listeners,
            PendingCompletion(context.project.repository_key, "commit", pipeline.sha),
        )

    def on_wiki_page(self, db: Connection, event: WikiPageChanged) -> None:
        """Queue a created, edited or deleted wiki page."""
        context, listeners = self._context_and_listeners(db, "wiki_page_events", event.project_id, event.actor_id)
        if context is not None:
            payload = wiki_payload(context, event.page, event.action, event.message)
            queue_event(
                db,
                "wiki_page_events",
                payload,
                listeners,
                PendingCompletion(event.repository_key, "page", event.page.oid),
            )

    def on_release(self, db: Connection, event: ReleaseChanged) -> None:
        """Queue a changed release."""
        context, listeners = self._context_and_listeners(
            db, "releases_events", event.release.project_id, event.release.author_id
        )
        if context is not None:
            payload = release_payload(context, event.release, links_of_release(db, event.release), event.action)
            completion = PendingCompletion(context.project.repository_key, "commit", f"refs/tags/{event.release.tag}")
            queue_event(db, "releases_events", payload, listeners, completion)

    def on_milestone(self, db: Connection, event: MilestoneChanged) -> None:
        """Queue a created, closed or reopened milestone of a project."""
        if event.project_id is None or event.action == "destroyed":
            return
        flag = "milestone_events"
        context, listeners = self._context_and_listeners(db, flag, event.project_id, event.actor_id)
        if context is not None:
            milestone = milestones_by_ids(db, [event.milestone_id])[event.milestone_id]
            queue_event(db, flag, milestone_payload(context, milestone, event.action), listeners)

    def on_merge_request(self, db: Connection, event: MergeRequestChanged) -> None:
        """Queue a change of a merge request or its new commits."""
        flag = "merge_requests_events"
        if not has_payload(event.action, event.changes):
            return
        context, listeners = self._context_and_listeners(db, flag, event.project_id, event.actor_id, system=True)
        if context is not None:
            merge_request = merge_request_by_id(db, event.merge_request_id)
            payload = merge_request_payload(db, context, merge_request, event.action, event.changes)
            queue_event(db, flag, payload, listeners, _head_completion(db, context, merge_request))

    def _context_and_listeners(
        self, db: Connection, flag: str, project_id: int, actor_id: int | None, *, system: bool = False
    ) -> tuple[EventContext | None, list[int]]:
        """Return the context of an event and the ids of subscribed webhooks; None without any."""
        listeners = [self._only.id] if self._only else hook_ids(subscribed_hooks(db, flag, project_id, system=system))
        project = project_or_none(db, project_id) if listeners else None
        return (
            None if project is None else EventContext(project, _user(db, actor_id), with_clone_root(db, self._urls))
        ), listeners


def job_details(db: Connection, statuses: Sequence[CommitStatus]) -> dict[int, JobDetails]:
    """Return the jobs among statuses by id, with their runners and archives."""
    jobs = jobs_by_ids(db, [status.id for status in statuses])
    ids = sorted({job.runner_id for job in jobs if job.runner_id is not None})
    found = {runner.id: runner for runner in db.all(Runner, _RUNNERS, ids=ids)} if ids else {}
    artifacts = db.ports[JobArtifacts].list_for_jobs(db, [job.id for job in jobs]) if jobs else {}
    return {
        job.id: JobDetails(
            job,
            found.get(job.runner_id or 0),
            next((each for each in artifacts.get(job.id, ()) if each.file_type == "archive"), None),
        )
        for job in jobs
    }


def _without_bridges(statuses: Iterable[CommitStatus], details: Mapping[int, JobDetails]) -> list[CommitStatus]:
    """Return the statuses of jobs that runners execute, and external ones."""
    return [status for status in statuses if status.id not in details or not details[status.id].is_bridge]


def last_ref_change(db: Connection, project: Project) -> int:
    """Return the id of a project's last ref change."""
    return db.value(_LAST_REF_CHANGE, project=project.id) or 0


def pending_push_completion(project: Project, update: RefUpdate, last_change: int) -> PendingCompletion:
    """Return the data to read from git for a changed branch or tag."""
    if update.tag is not None:
        return PendingCompletion(project.repository_key, "tag")
    default = f"refs/heads/{project.default_branch}"
    base = None if update.ref == default else default
    return PendingCompletion(project.repository_key, "push", project_id=project.id, base=base, mark=last_change)


def _user(db: Connection, user_id: int | None) -> User | None:
    return user_or_none(db, user_id) if user_id else None


def _queue_branch_push(
    db: Connection, context: EventContext, update: RefUpdate, subscribed: Sequence[SubscribedHook], last_change: int
) -> None:
    listeners = [
        each.id
        for each in subscribed
        if each.push_events
        and matches_branch(each.branch_filter_strategy, each.push_events_branch_filter, update.branch or "")
    ]
    if not listeners:
        return
    queue_event(
        db,
        "push_events",
        push_payload(update, *context),
        listeners,
        pending_push_completion(context.project, update, last_change),
    )


def _queue_tag_push(
    db: Connection, context: EventContext, update: RefUpdate, subscribed: Sequence[SubscribedHook]
) -> None:
    payload, key = push_payload(update, *context), context.project.repository_key
    listeners = [each.id for each in subscribed if each.tag_push_events and each.kind != "system"]
    if listeners:
        queue_event(db, "tag_push_events", payload, listeners, pending_push_completion(context.project, update, 0))
    system = [each.id for each in subscribed if each.tag_push_events and each.kind == "system"]
    if system:
        queue_event(db, "tag_push_events", system_tag_payload(payload), system, PendingCompletion(key, "system tag"))


def _head_completion(db: Connection, context: EventContext, merge_request: MergeRequest) -> PendingCompletion:
    """Return the completion with the last commit, read from the source project; the target may not have it yet."""
    is_same_project = merge_request.source_project_id == context.project.id
    source = None if is_same_project else project_or_none(db, merge_request.source_project_id or 0)
    return PendingCompletion((source or context.project).repository_key, "head", merge_request.head_oid)


def _note_subject(db: Connection, context: EventContext, note: Note) -> tuple[Payload, str, PendingCompletion | None]:
    """Return the part of a note's subject, the path of its page and the data to read from git."""
    if note.commit_oid is not None:
        completion = PendingCompletion(context.project.repository_key, "commit", note.commit_oid)
        return commit_subject(None, context), f"commit/{note.commit_oid}", completion
    if note.subject_kind == "issue" and note.subject_id is not None:
        issue = issue_by_id(db, note.subject_id)
        return issue_subject(db, issue), f"issues/{issue.iid}", None
    if note.subject_kind == "merge_request" and note.subject_id is not None:
        merge_request = merge_request_by_id(db, note.subject_id)
        subject = merge_request_subject(db, context, merge_request)
        return subject, merge_request_page(merge_request), _head_completion(db, context, merge_request)
    if note.subject_kind == "snippet" and note.subject_id is not None:
        snippet = snippet_by_id(db, note.subject_id)
        return snippet_subject(snippet, first_file(db, snippet.id)), f"snippets/{snippet.id}", None
    return {}, "", None


def _visible_changes(event: IssueChanged) -> Changes:
    """Return the changes; for an issue that was confidential until now, without previous values."""
    if not event.was_confidential:
        return event.changes
    return {
        name: values if name == "confidential" else ([] if isinstance(values[0], list | tuple) else None, values[1])
        for name, values in event.changes.items()
    }


def _is_confidential(db: Connection, event: IssueChanged) -> bool:
    return (event.issue or issue_by_id(db, event.issue_id)).confidential
