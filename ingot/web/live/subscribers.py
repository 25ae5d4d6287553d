"""Announcements of changes that pages show; new notes, sessions, deliveries and traces announce themselves."""

from ingot.collaboration.emoji.events import AwardGiven, AwardRemoved
from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.merge_requests.events import MergeFailed, MergeRequestChanged
from ingot.collaboration.notes.events import NoteEdited, NoteRemoved
from ingot.collaboration.subjects import subject_topic
from ingot.core.db.announcements import announce
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.pipelines.events import PipelineChanged, StatusChanged
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.web.live.topics import pipeline_topic, pipelines_topic, ref_topic

_MAX_REFS = 20
"""Branches of one push that are announced; pages of further ones are updated by the next change."""

subscriptions = Subscriptions()


@subscriptions.on(IssueChanged)
def announce_issue(db: Connection, event: IssueChanged) -> None:
    """Announce a changed issue."""
    announce(db, subject_topic("issue", event.issue_id))


@subscriptions.on(MergeRequestChanged)
def announce_merge_request(db: Connection, event: MergeRequestChanged) -> None:
    """Announce a changed merge request, and the merge trains of the project if it may have joined or left one."""
    announce(db, subject_topic("merge_request", event.merge_request_id))
    if event.action in ("merged", "closed", "deleted") or "merge_train" in event.changes:
        announce(db, pipelines_topic(event.project_id))


@subscriptions.on(MergeFailed)
def announce_failed_merge(db: Connection, event: MergeFailed) -> None:
    """Announce a merge request whose scheduled merge has failed."""
    announce(db, subject_topic("merge_request", event.merge_request_id))


@subscriptions.on(NoteEdited)
def announce_edited_note(db: Connection, event: NoteEdited) -> None:
    """Announce the subject of an edited note."""
    announce(db, subject_topic(event.subject_kind, event.subject_id))


@subscriptions.on(NoteRemoved)
def announce_removed_note(db: Connection, event: NoteRemoved) -> None:
    """Announce the subject of a deleted note."""
    announce(db, subject_topic(event.subject_kind, event.subject_id))


@subscriptions.on(AwardGiven)
def announce_award(db: Connection, event: AwardGiven) -> None:
    """Announce the subject of an award; notes announce their own subjects."""
    announce(db, subject_topic(event.subject_kind, event.subject_id))


@subscriptions.on(AwardRemoved)
def announce_removed_award(db: Connection, event: AwardRemoved) -> None:
    """Announce the subject of a removed award."""
    announce(db, subject_topic(event.subject_kind, event.subject_id))


@subscriptions.on(PipelineChanged)
def announce_pipeline(db: Connection, event: PipelineChanged) -> None:
    """Announce a new or changed pipeline."""
    topics = pipeline_topic(event.project_id, event.pipeline_id), pipelines_topic(event.project_id)
    announce(db, *topics, ref_topic(event.project_id, event.ref))


@subscriptions.on(StatusChanged)
def announce_statuses(db: Connection, event: StatusChanged) -> None:
    """Announce changed jobs of a pipeline."""
    topics = pipeline_topic(event.project_id, event.pipeline_id), pipelines_topic(event.project_id)
    announce(db, *topics, ref_topic(event.project_id, event.ref))


@subscriptions.on(RefsChanged)
def announce_refs(db: Connection, event: RefsChanged) -> None:
    """Announce branches that have changed, because merge requests into them may now have conflicts."""
    names = (update.ref.removeprefix("refs/heads/") for update in event.updates[:_MAX_REFS])
    announce(db, *(ref_topic(event.project_id, name) for name in names))
