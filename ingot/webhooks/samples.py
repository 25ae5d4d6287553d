"""Test events of webhooks, made from the newest object of each kind."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import bindparam, select

from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.tables import MERGE_REQUEST_COLUMNS, MergeRequest, merge_requests
from ingot.collaboration.notes.events import NoteAdded
from ingot.collaboration.notes.tables import Note, notes
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid
from ingot.git.core.refs import TAGS
from ingot.git.core.sorted_refs import sorted_refs
from ingot.git.history.commits import NO_OID, commit_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.ref_updates import RefUpdate
from ingot.pipelines.events import PipelineChanged, StatusChanged
from ingot.pipelines.tables import CommitStatus, Pipeline, commit_statuses, pipelines
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.ref_changes.events import RefsChanged
from ingot.repositories.tags.events import ReleaseChanged
from ingot.repositories.tags.tables import Release, releases
from ingot.repositories.wikis.events import WikiPageChanged
from ingot.repositories.wikis.owners import wiki_key_or_none
from ingot.repositories.wikis.queries import list_pages
from ingot.webhooks.subscribers import HookSubscriber
from ingot.webhooks.tables import EVENT_FLAGS

_ISSUE = (
    select(*ISSUE_COLUMNS)
    .where(
        issues.c.project_id == bindparam("project"),
        issues.c.deleted_at.is_(None),
        issues.c.confidential == bindparam("secret"),
    )
    .order_by(issues.c.id.desc())
    .limit(1)
)
_MERGE_REQUEST = (
    select(*MERGE_REQUEST_COLUMNS)
    .where(merge_requests.c.target_project_id == bindparam("project"), merge_requests.c.deleted_at.is_(None))
    .order_by(merge_requests.c.id.desc())
    .limit(1)
)
_NOTE = (
    select(notes)
    .where(notes.c.project_id == bindparam("project"), ~notes.c.system, notes.c.internal == bindparam("secret"))
    .order_by(notes.c.id.desc())
    .limit(1)
)
_PIPELINE = (
    select(pipelines).where(pipelines.c.project_id == bindparam("project")).order_by(pipelines.c.id.desc()).limit(1)
)
_JOB = (
    select(commit_statuses)
    .join(pipelines, pipelines.c.id == commit_statuses.c.pipeline_id)
    .where(pipelines.c.project_id == bindparam("project"))
    .order_by(commit_statuses.c.id.desc())
    .limit(1)
)
_RELEASE = select(releases).where(releases.c.project_id == bindparam("project")).order_by(releases.c.id.desc()).limit(1)
_PROJECT = (
    select(projects.c.id)
    .join(namespace_tree, namespace_tree.c.descendant_id == projects.c.namespace_id)
    .where(namespace_tree.c.ancestor_id == bindparam("group"))
    .order_by(projects.c.id.desc())
    .limit(1)
)


class SampleSender:
    """Sends a sample event to one webhook."""

    def __init__(self, db: Connection, subscriber: HookSubscriber, store: RepositoryStore, actor_id: int) -> None:
        self._db = db
        self._subscriber = subscriber
        self._store = store
        self._actor_id = actor_id

    def sample(self, project: Project, trigger: str) -> None:
        """Send the newest object of a kind; raise Conflict if there is none."""
        samples: dict[str, Callable[[Project], None]] = {
            "push_events": self._push,
            "tag_push_events": self._tag,
            "issues_events": partial(self._issue, secret=False),
            "confidential_issues_events": partial(self._issue, secret=True),
            "merge_requests_events": self._merge_request,
            "note_events": partial(self._note, secret=False),
            "confidential_note_events": partial(self._note, secret=True),
            "job_events": self._job,
            "pipeline_events": self._pipeline,
            "wiki_page_events": self._page,
            "releases_events": self._release,
        }
        if trigger not in EVENT_FLAGS:
            raise Invalid(trigger=["does not have a valid value"])
        if trigger not in samples:
            raise Conflict(f"Ensure the project has {trigger.removesuffix('_events').replace('_', ' ')}.")
        samples[trigger](project)

    def _push(self, project: Project) -> None:
        repository = self._store.open(project.repository_key)
        tip = repository.tip(f"refs/heads/{project.default_branch}")
        commit = commit_or_none(repository, tip) if tip else None
        if commit is None:
            raise Conflict("Ensure the project has at least one commit.")
        update = RefUpdate(f"refs/heads/{project.default_branch}", (*commit.parents, NO_OID)[0], commit.oid)
        self._subscriber.on_push(self._db, RefsChanged(project.id, self._actor_id, "test", (update,)))

    def _tag(self, project: Project) -> None:
        tags = sorted_refs(self._store.open(project.repository_key), TAGS, project.generation)
        if not tags:
            raise Conflict("Ensure the project has at least one tag.")
        update = RefUpdate(f"refs/tags/{tags[-1].name.decode(errors='replace')}", NO_OID, tags[-1].oid)
        self._subscriber.on_push(self._db, RefsChanged(project.id, self._actor_id, "test", (update,)))

    def _issue(self, project: Project, *, secret: bool) -> None:
        issue = self._db.first(Issue, _ISSUE, project=project.id, secret=secret)
        if issue is None:
            raise Conflict("Ensure the project has issues.")
        self._subscriber.on_issue(self._db, IssueChanged(issue.id, project.id, self._actor_id, "opened"))

    def _merge_request(self, project: Project) -> None:
        merge_request = self._db.first(MergeRequest, _MERGE_REQUEST, project=project.id)
        if merge_request is None:
            raise Conflict("Ensure the project has merge requests.")
        self._subscriber.on_merge_request(
            self._db, MergeRequestChanged(merge_request.id, project.id, self._actor_id, "opened")
        )

    def _note(self, project: Project, *, secret: bool) -> None:
        note = self._db.first(Note, _NOTE, project=project.id, secret=secret)
        if note is None:
            raise Conflict("Ensure the project has notes.")
        subject = note.subject_kind, note.subject_id, note.commit_oid, note.internal
        self._subscriber.on_note(self._db, NoteAdded(note.id, project.id, note.author_id, *subject))

    def _job(self, project: Project) -> None:
        status = self._db.first(CommitStatus, _JOB, project=project.id)
        if status is None:
            raise Conflict("Ensure the project has CI jobs.")
        self._subscriber.on_job(self._db, StatusChanged(project.id, status.pipeline_id, (status,)))

    def _pipeline(self, project: Project) -> None:
        pipeline = self._db.first(Pipeline, _PIPELINE, project=project.id)
        if pipeline is None:
            raise Conflict("Ensure the project has CI pipelines.")
        self._subscriber.on_pipeline(
            self._db, PipelineChanged(project.id, pipeline.id, pipeline.sha, pipeline.ref, pipeline.status)
        )

    def _page(self, project: Project) -> None:
        key = wiki_key_or_none(self._db, project)
        pages = list_pages(self._store.open(key)) if key else []
        if key is None or not pages:
            raise Conflict("Ensure the wiki is enabled and has pages.")
        self._subscriber.on_wiki_page(
            self._db, WikiPageChanged(project.id, self._actor_id, key, pages[0], "create", "")
        )

    def _release(self, project: Project) -> None:
        release = self._db.first(Release, _RELEASE, project=project.id)
        if release is None:
            raise Conflict("Ensure the project has at least one release.")
        self._subscriber.on_release(self._db, ReleaseChanged(release, "create"))


def project_in_group(db: Connection, group_id: int) -> Project:
    """Return a project for the test of a group's webhook; raise Conflict if the group has none."""
    project_id: int | None = db.value(_PROJECT, group=group_id)
    project = project_or_none(db, project_id) if project_id is not None else None
    if project is None:
        raise Conflict("Ensure the group has a project with commits.")
    return project
