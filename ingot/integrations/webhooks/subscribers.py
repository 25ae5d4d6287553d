"""What hooks hear: one function for each event of a project, which writes to the outbox in the same transaction."""

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select

from ingot.accounts.users.queries import user_or_none, users_by_ids
from ingot.accounts.users.tables import User
from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.notes.events import NoteAdded
from ingot.collaboration.notes.queries import find_note
from ingot.collaboration.notes.tables import Note
from ingot.collaboration.releases.queries import links_of_release
from ingot.collaboration.snippets.queries import first_file, snippet_by_id
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.git.writing.ref_updates import RefUpdate
from ingot.integrations.webhooks.outbox import PendingCompletion, queue_event
from ingot.integrations.webhooks.payloads.issues import (
    ISSUE_ACTIONS,
    Changes,
    EventContext,
    commit_subject,
    issue_payload,
    issue_subject,
    note_payload,
    snippet_subject,
)
from ingot.integrations.webhooks.payloads.merge_requests import (
    has_payload,
    merge_request_page,
    merge_request_payload,
    merge_request_subject,
)
from ingot.integrations.webhooks.payloads.parts import Payload, project_url
from ingot.integrations.webhooks.payloads.pipelines import job_payload, pipeline_payload, release_payload, wiki_payload
from ingot.integrations.webhooks.payloads.pushes import push_payload, system_tag_payload, update_payload
from ingot.integrations.webhooks.policy import matches_branch
from ingot.integrations.webhooks.queries import (
    SubscribedHook,
    hook_ids,
    push_subscribed_hooks,
    subscribed_hooks,
    subscribed_to_all_pushes,
)
from ingot.integrations.webhooks.tables import Hook
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls
from ingot.repositories.pipelines.events import PipelineChanged, StatusChanged
from ingot.repositories.pipelines.queries import find_pipeline
from ingot.repositories.pipelines.tables import CommitStatus, commit_statuses
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.repositories.ref_changes.tables import ref_changes
from ingot.repositories.tags.events import ReleaseChanged
from ingot.repositories.wikis.events import WikiPageChanged

_LAST_REF_CHANGE = select(func.max(ref_changes.c.id)).where(ref_changes.c.project_id == bindparam("project"))
_STATUSES = (
    select(commit_statuses)
    .where(commit_statuses.c.pipeline_id == bindparam("pipeline"), ~commit_statuses.c.retried)
    .order_by(commit_statuses.c.id)
)


def push_hook_subscriptions(urls: InstanceUrls) -> Subscriptions:
    """What hooks hear of pushes: before anybody does what follows from one, so that they are told in that order."""
    subscriptions = Subscriptions()
    subscriptions.on(RefsChanged)(HookSubscriber(urls).on_push)
    return subscriptions


def hook_subscriptions(urls: InstanceUrls) -> Subscriptions:
    """What else projects' hooks hear, with addresses in it by which people reach this instance."""
    subscriptions = Subscriptions()
    ear = HookSubscriber(urls)
    subscriptions.on(IssueChanged)(ear.on_issue)
    subscriptions.on(MergeRequestChanged)(ear.on_merge_request)
    subscriptions.on(NoteAdded)(ear.on_note)
    subscriptions.on(StatusChanged)(ear.on_job)
    subscriptions.on(PipelineChanged)(ear.on_pipeline)
    subscriptions.on(WikiPageChanged)(ear.on_wiki_page)
    subscriptions.on(ReleaseChanged)(ear.on_release)
    return subscriptions


class HookSubscriber:
    """Hears what happens in projects; where no hook asks for it, that is all."""

    def __init__(self, urls: InstanceUrls, only: Hook | None = None) -> None:
        self._at = urls
        self._only = only
        """The one hook that is told, whatever it asks for, because somebody wants to see whether that works."""

    def on_push(self, db: Connection, event: RefsChanged) -> None:
        """Branches and tags have changed, however that came."""
        found = (
            push_subscribed_hooks(db, event.project_id)
            if self._only is None
            else [subscribed_to_all_pushes(self._only)]
        )
        project = project_or_none(db, event.project_id) if found else None
        if project is None:
            return
        scene = EventContext(project, _user(db, event.actor_id), self._at)
        mark = last_ref_change(db, project)
        for update in event.updates:
            if update.branch is not None:
                _queue_branch_push(db, scene, update, found, mark)
            elif update.tag is not None:
                _queue_tag_push(db, scene, update, found)
        wanted = [each.id for each in found if each.kind == "system" and each.repository_update_events]
        if wanted:
            queue_event(db, "repository_update_events", update_payload(event.updates, *scene), wanted)

    def on_issue(self, db: Connection, event: IssueChanged) -> None:
        """An issue was opened, closed or changed; confidential ones only reach hooks that ask for those."""
        if event.action not in ISSUE_ACTIONS:
            return
        flag = "confidential_issues_events" if _is_confidential(db, event) else "issues_events"
        scene, wanted = self._scene(db, flag, event.project_id, event.actor_id)
        if scene is not None:
            issue = issue_by_id(db, event.issue_id)
            queue_event(db, flag, issue_payload(db, scene, issue, event.action, _visible_changes(event)), wanted)

    def on_note(self, db: Connection, event: NoteAdded) -> None:
        """Somebody wrote a note; on what is confidential, it is confidential too."""
        if event.project_id is None:
            return
        confidential = event.internal
        if event.subject_kind == "issue" and event.subject_id is not None:
            confidential = confidential or issue_by_id(db, event.subject_id).confidential
        flag = "confidential_note_events" if confidential else "note_events"
        scene, wanted = self._scene(db, flag, event.project_id, event.author_id)
        if scene is None:
            return
        note = find_note(db, event.note_id)
        subject, url, rest = _note_subject(db, scene, note)
        payload = note_payload(scene, note, subject, f"{project_url(scene.project, self._at)}/{url}")
        if confidential:
            payload["event_type"] = "confidential_note"
        queue_event(db, flag, payload, wanted, rest)

    def on_job(self, db: Connection, event: StatusChanged) -> None:
        """One of those who look at a commit has something else to say of it."""
        scene, wanted = self._scene(db, "job_events", event.project_id, event.status.user_id)
        if scene is not None:
            pipeline = find_pipeline(db, event.project_id, event.status.pipeline_id)
            rest = PendingCompletion(scene.project.repository_key, "job", pipeline.sha)
            queue_event(db, "job_events", job_payload(scene, pipeline, event.status), wanted, rest)

    def on_pipeline(self, db: Connection, event: PipelineChanged) -> None:
        """A pipeline has another status."""
        pipeline = find_pipeline(db, event.project_id, event.pipeline_id)
        scene, wanted = self._scene(db, "pipeline_events", event.project_id, pipeline.user_id)
        if scene is None:
            return
        statuses = db.all(CommitStatus, _STATUSES, pipeline=pipeline.id)
        people = users_by_ids(db, [status.user_id for status in statuses])
        payload = pipeline_payload(scene, pipeline, statuses, people)
        queue_event(
            db,
            "pipeline_events",
            payload,
            wanted,
            PendingCompletion(scene.project.repository_key, "commit", pipeline.sha),
        )

    def on_wiki_page(self, db: Connection, event: WikiPageChanged) -> None:
        """A page of a wiki was written, changed or removed."""
        scene, wanted = self._scene(db, "wiki_page_events", event.project_id, event.actor_id)
        if scene is not None:
            payload = wiki_payload(scene, event.page, event.action, event.message)
            queue_event(
                db, "wiki_page_events", payload, wanted, PendingCompletion(event.repository_key, "page", event.page.oid)
            )

    def on_release(self, db: Connection, event: ReleaseChanged) -> None:
        """Something was told about a tag."""
        scene, wanted = self._scene(db, "releases_events", event.release.project_id, event.release.author_id)
        if scene is not None:
            payload = release_payload(scene, event.release, links_of_release(db, event.release), event.action)
            rest = PendingCompletion(scene.project.repository_key, "commit", f"refs/tags/{event.release.tag}")
            queue_event(db, "releases_events", payload, wanted, rest)

    def on_merge_request(self, db: Connection, event: MergeRequestChanged) -> None:
        """A merge request was opened, changed, merged or closed, or new commits came to it."""
        flag = "merge_requests_events"
        if not has_payload(event.action, event.changes):
            return
        scene, wanted = self._scene(db, flag, event.project_id, event.actor_id, system=True)
        if scene is not None:
            merge_request = merge_request_by_id(db, event.merge_request_id)
            payload = merge_request_payload(db, scene, merge_request, event.action, event.changes)
            queue_event(db, flag, payload, wanted, _head_completion(db, scene, merge_request))

    def _scene(
        self, db: Connection, flag: str, project_id: int, actor_id: int | None, *, system: bool = False
    ) -> tuple[EventContext | None, list[int]]:
        """Where it happened, and which hooks ask for it; nothing where none does."""
        wanted = [self._only.id] if self._only else hook_ids(subscribed_hooks(db, flag, project_id, system=system))
        project = project_or_none(db, project_id) if wanted else None
        return (None if project is None else EventContext(project, _user(db, actor_id), self._at)), wanted


def last_ref_change(db: Connection, project: Project) -> int:
    """The last change of references that a project has seen."""
    return db.value(_LAST_REF_CHANGE, project=project.id) or 0


def pending_push_completion(project: Project, update: RefUpdate, mark: int) -> PendingCompletion:
    """What is to be read of a change of a branch, or of a tag."""
    if update.tag is not None:
        return PendingCompletion(project.repository_key, "tag")
    default = f"refs/heads/{project.default_branch}"
    base = None if update.ref == default else default
    return PendingCompletion(project.repository_key, "push", project_id=project.id, base=base, mark=mark)


def _user(db: Connection, user_id: int | None) -> User | None:
    return user_or_none(db, user_id) if user_id else None


def _queue_branch_push(
    db: Connection, context: EventContext, update: RefUpdate, found: Sequence[SubscribedHook], mark: int
) -> None:
    wanted = [
        each.id
        for each in found
        if each.push_events
        and matches_branch(each.branch_filter_strategy, each.push_events_branch_filter, update.branch or "")
    ]
    if not wanted:
        return
    queue_event(
        db,
        "push_events",
        push_payload(update, *context),
        wanted,
        pending_push_completion(context.project, update, mark),
    )


def _queue_tag_push(db: Connection, context: EventContext, update: RefUpdate, found: Sequence[SubscribedHook]) -> None:
    payload, key = push_payload(update, *context), context.project.repository_key
    near = [each.id for each in found if each.tag_push_events and each.kind != "system"]
    if near:
        queue_event(db, "tag_push_events", payload, near, pending_push_completion(context.project, update, 0))
    system = [each.id for each in found if each.tag_push_events and each.kind == "system"]
    if system:
        queue_event(db, "tag_push_events", system_tag_payload(payload), system, PendingCompletion(key, "system tag"))


def _head_completion(db: Connection, context: EventContext, merge_request: MergeRequest) -> PendingCompletion:
    """The last commit is read where it was pushed to: what comes from a fork is still on its way to the target."""
    near = merge_request.source_project_id == context.project.id
    source = None if near else project_or_none(db, merge_request.source_project_id or 0)
    return PendingCompletion((source or context.project).repository_key, "head", merge_request.head_oid)


def _note_subject(db: Connection, context: EventContext, note: Note) -> tuple[Payload, str, PendingCompletion | None]:
    """What a note is about, where that is below the project's page, and what git is still to tell of it."""
    if note.commit_oid is not None:
        rest = PendingCompletion(context.project.repository_key, "commit", note.commit_oid)
        return commit_subject(None, context), f"commit/{note.commit_oid}", rest
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
    """What changed; of an issue that was confidential till now, not what else it was before."""
    if not event.shows:
        return event.changes
    return {
        name: both if name == "confidential" else ([] if isinstance(both[0], list | tuple) else None, both[1])
        for name, both in event.changes.items()
    }


def _is_confidential(db: Connection, event: IssueChanged) -> bool:
    return (event.issue or issue_by_id(db, event.issue_id)).confidential
