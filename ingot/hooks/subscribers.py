"""What hooks hear: one function for each event of a project, which writes to the outbox in the same transaction."""

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.git.updating import RefUpdate
from ingot.hooks.outbox import Unfinished, tell
from ingot.hooks.payloads.building import job_payload, pipeline_payload, release_payload, wiki_payload
from ingot.hooks.payloads.merging import merge_request_payload, merge_request_subject, page_of, tells
from ingot.hooks.payloads.parts import Payload, project_url
from ingot.hooks.payloads.pushes import push_payload, system_tag_payload, update_payload
from ingot.hooks.payloads.talk import (
    ISSUE_ACTIONS,
    Changes,
    Scene,
    commit_subject,
    issue_payload,
    issue_subject,
    note_payload,
    snippet_subject,
)
from ingot.hooks.policy import wants_branch
from ingot.hooks.queries import Listener, eager_listener, ids_of, listeners, push_listeners
from ingot.hooks.tables import Hook
from ingot.issues.events import IssueChanged
from ingot.issues.queries import issue_by_id
from ingot.merge_requests.events import MergeRequestChanged
from ingot.merge_requests.queries import merge_request_by_id
from ingot.merge_requests.tables import MergeRequest
from ingot.notes.events import NoteAdded
from ingot.notes.queries import find_note
from ingot.notes.tables import Note
from ingot.projects.queries import project_or_none
from ingot.projects.tables import Project
from ingot.projects.views import Addresses
from ingot.releases.queries import all_links
from ingot.repository.changes.events import RefsChanged
from ingot.repository.changes.tables import ref_changes
from ingot.repository.pipelines.events import PipelineChanged, StatusChanged
from ingot.repository.pipelines.queries import find_pipeline
from ingot.repository.pipelines.tables import CommitStatus, commit_statuses
from ingot.repository.tags.events import ReleaseChanged
from ingot.snippets.queries import first_file, snippet_by_id
from ingot.users.accounts.queries import user_or_none, users_by_ids
from ingot.users.accounts.tables import User
from ingot.wikis.events import WikiPageChanged

_MARK = select(func.max(ref_changes.c.id)).where(ref_changes.c.project_id == bindparam("project"))
_STATUSES = (
    select(commit_statuses)
    .where(commit_statuses.c.pipeline_id == bindparam("pipeline"), ~commit_statuses.c.retried)
    .order_by(commit_statuses.c.id)
)


def push_hook_subscriptions(at: Addresses) -> Subscriptions:
    """What hooks hear of pushes: before anybody does what follows from one, so that they are told in that order."""
    subscriptions = Subscriptions()
    subscriptions.on(RefsChanged)(Ear(at).hear_push)
    return subscriptions


def hook_subscriptions(at: Addresses) -> Subscriptions:
    """What else projects' hooks hear, with addresses in it by which people reach this instance."""
    subscriptions = Subscriptions()
    ear = Ear(at)
    subscriptions.on(IssueChanged)(ear.hear_issue)
    subscriptions.on(MergeRequestChanged)(ear.hear_merge_request)
    subscriptions.on(NoteAdded)(ear.hear_note)
    subscriptions.on(StatusChanged)(ear.hear_job)
    subscriptions.on(PipelineChanged)(ear.hear_pipeline)
    subscriptions.on(WikiPageChanged)(ear.hear_page)
    subscriptions.on(ReleaseChanged)(ear.hear_release)
    return subscriptions


class Ear:
    """Hears what happens in projects; where no hook asks for it, that is all."""

    def __init__(self, at: Addresses, only: Hook | None = None) -> None:
        self._at = at
        self._only = only
        """The one hook that is told, whatever it asks for, because somebody wants to see whether that works."""

    def hear_push(self, db: Connection, event: RefsChanged) -> None:
        """Branches and tags have changed, however that came."""
        found = push_listeners(db, event.project_id) if self._only is None else [eager_listener(self._only)]
        project = project_or_none(db, event.project_id) if found else None
        if project is None:
            return
        scene = Scene(project, _user(db, event.actor_id), self._at)
        mark = mark_of(db, project)
        for update in event.updates:
            if update.branch is not None:
                _tell_branch(db, scene, update, found, mark)
            elif update.tag is not None:
                _tell_tag(db, scene, update, found)
        wanted = [each.id for each in found if each.kind == "system" and each.repository_update_events]
        if wanted:
            tell(db, "repository_update_events", update_payload(event.updates, *scene), wanted)

    def hear_issue(self, db: Connection, event: IssueChanged) -> None:
        """An issue was opened, closed or changed; confidential ones only reach hooks that ask for those."""
        if event.action not in ISSUE_ACTIONS:
            return
        flag = "confidential_issues_events" if _is_confidential(db, event) else "issues_events"
        scene, wanted = self._scene(db, flag, event.project_id, event.actor_id)
        if scene is not None:
            issue = issue_by_id(db, event.issue_id)
            tell(db, flag, issue_payload(db, scene, issue, event.action, _told(event)), wanted)

    def hear_note(self, db: Connection, event: NoteAdded) -> None:
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
        subject, url, rest = _subject(db, scene, note)
        payload = note_payload(scene, note, subject, f"{project_url(scene.project, self._at)}/{url}")
        if confidential:
            payload["event_type"] = "confidential_note"
        tell(db, flag, payload, wanted, rest)

    def hear_job(self, db: Connection, event: StatusChanged) -> None:
        """One of those who look at a commit has something else to say of it."""
        scene, wanted = self._scene(db, "job_events", event.project_id, event.status.user_id)
        if scene is not None:
            pipeline = find_pipeline(db, event.project_id, event.status.pipeline_id)
            rest = Unfinished(scene.project.repository_key, "job", pipeline.sha)
            tell(db, "job_events", job_payload(scene, pipeline, event.status), wanted, rest)

    def hear_pipeline(self, db: Connection, event: PipelineChanged) -> None:
        """A pipeline has another status."""
        pipeline = find_pipeline(db, event.project_id, event.pipeline_id)
        scene, wanted = self._scene(db, "pipeline_events", event.project_id, pipeline.user_id)
        if scene is None:
            return
        statuses = db.all(CommitStatus, _STATUSES, pipeline=pipeline.id)
        people = users_by_ids(db, [status.user_id for status in statuses])
        payload = pipeline_payload(scene, pipeline, statuses, people)
        tell(db, "pipeline_events", payload, wanted, Unfinished(scene.project.repository_key, "commit", pipeline.sha))

    def hear_page(self, db: Connection, event: WikiPageChanged) -> None:
        """A page of a wiki was written, changed or removed."""
        scene, wanted = self._scene(db, "wiki_page_events", event.project_id, event.actor_id)
        if scene is not None:
            payload = wiki_payload(scene, event.page, event.action, event.message)
            tell(db, "wiki_page_events", payload, wanted, Unfinished(event.repository_key, "page", event.page.oid))

    def hear_release(self, db: Connection, event: ReleaseChanged) -> None:
        """Something was told about a tag."""
        scene, wanted = self._scene(db, "releases_events", event.release.project_id, event.release.author_id)
        if scene is not None:
            payload = release_payload(scene, event.release, all_links(db, event.release), event.action)
            rest = Unfinished(scene.project.repository_key, "commit", f"refs/tags/{event.release.tag}")
            tell(db, "releases_events", payload, wanted, rest)

    def hear_merge_request(self, db: Connection, event: MergeRequestChanged) -> None:
        """A merge request was opened, changed, merged or closed, or new commits came to it."""
        flag = "merge_requests_events"
        if not tells(event.action, event.changes):
            return
        scene, wanted = self._scene(db, flag, event.project_id, event.actor_id, system=True)
        if scene is not None:
            merge_request = merge_request_by_id(db, event.merge_request_id)
            payload = merge_request_payload(db, scene, merge_request, event.action, event.changes)
            tell(db, flag, payload, wanted, _head(db, scene, merge_request))

    def _scene(
        self, db: Connection, flag: str, project_id: int, actor_id: int | None, *, system: bool = False
    ) -> tuple[Scene | None, list[int]]:
        """Where it happened, and which hooks ask for it; nothing where none does."""
        wanted = [self._only.id] if self._only else ids_of(listeners(db, flag, project_id, system=system))
        project = project_or_none(db, project_id) if wanted else None
        return (None if project is None else Scene(project, _user(db, actor_id), self._at)), wanted


def mark_of(db: Connection, project: Project) -> int:
    """The last change of references that a project has seen."""
    return db.value(_MARK, project=project.id) or 0


def unread_push(project: Project, update: RefUpdate, mark: int) -> Unfinished:
    """What is to be read of a change of a branch, or of a tag."""
    if update.tag is not None:
        return Unfinished(project.repository_key, "tag")
    default = f"refs/heads/{project.default_branch}"
    base = None if update.ref == default else default
    return Unfinished(project.repository_key, "push", project_id=project.id, base=base, mark=mark)


def _user(db: Connection, user_id: int | None) -> User | None:
    return user_or_none(db, user_id) if user_id else None


def _tell_branch(db: Connection, scene: Scene, update: RefUpdate, found: Sequence[Listener], mark: int) -> None:
    wanted = [
        each.id
        for each in found
        if each.push_events
        and wants_branch(each.branch_filter_strategy, each.push_events_branch_filter, update.branch or "")
    ]
    if not wanted:
        return
    tell(db, "push_events", push_payload(update, *scene), wanted, unread_push(scene.project, update, mark))


def _tell_tag(db: Connection, scene: Scene, update: RefUpdate, found: Sequence[Listener]) -> None:
    payload, key = push_payload(update, *scene), scene.project.repository_key
    near = [each.id for each in found if each.tag_push_events and each.kind != "system"]
    if near:
        tell(db, "tag_push_events", payload, near, unread_push(scene.project, update, 0))
    system = [each.id for each in found if each.tag_push_events and each.kind == "system"]
    if system:
        tell(db, "tag_push_events", system_tag_payload(payload), system, Unfinished(key, "system tag"))


def _head(db: Connection, scene: Scene, merge_request: MergeRequest) -> Unfinished:
    """The last commit is read where it was pushed to: what comes from a fork is still on its way to the target."""
    near = merge_request.source_project_id == scene.project.id
    source = None if near else project_or_none(db, merge_request.source_project_id or 0)
    return Unfinished((source or scene.project).repository_key, "head", merge_request.head_oid)


def _subject(db: Connection, scene: Scene, note: Note) -> tuple[Payload, str, Unfinished | None]:
    """What a note is about, where that is below the project's page, and what git is still to tell of it."""
    if note.commit_oid is not None:
        rest = Unfinished(scene.project.repository_key, "commit", note.commit_oid)
        return commit_subject(None, scene), f"commit/{note.commit_oid}", rest
    if note.subject_kind == "issue" and note.subject_id is not None:
        issue = issue_by_id(db, note.subject_id)
        return issue_subject(db, issue), f"issues/{issue.iid}", None
    if note.subject_kind == "merge_request" and note.subject_id is not None:
        merge_request = merge_request_by_id(db, note.subject_id)
        subject = merge_request_subject(db, scene, merge_request)
        return subject, page_of(merge_request), _head(db, scene, merge_request)
    if note.subject_kind == "snippet" and note.subject_id is not None:
        snippet = snippet_by_id(db, note.subject_id)
        return snippet_subject(snippet, first_file(db, snippet.id)), f"snippets/{snippet.id}", None
    return {}, "", None


def _told(event: IssueChanged) -> Changes:
    """What changed; of an issue that was confidential till now, not what else it was before."""
    if not event.shows:
        return event.changes
    return {
        name: both if name == "confidential" else ([] if isinstance(both[0], list | tuple) else None, both[1])
        for name, both in event.changes.items()
    }


def _is_confidential(db: Connection, event: IssueChanged) -> bool:
    return (event.issue or issue_by_id(db, event.issue_id)).confidential
