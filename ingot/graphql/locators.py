"""Paths of REST endpoints by global id: where an object is, not whether the caller may see it.

The endpoint that is called with the path checks the permission. An object that does not exist raises ``NotFound``, as
its endpoint does for an object that the caller may not see.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, select

from ingot.collaboration.boards.tables import board_lists, boards
from ingot.collaboration.issues.tables import issues
from ingot.collaboration.labels.tables import labels
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.collaboration.milestones.tables import milestones
from ingot.collaboration.notes.tables import notes
from ingot.collaboration.releases.tables import release_links
from ingot.collaboration.snippets.tables import snippets
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import NotFound
from ingot.graphql.context import QueryContext
from ingot.pipelines.tables import commit_statuses, pipelines
from ingot.repositories.tags.tables import releases

_ID: Any = bindparam("id")
_ISSUE = select(issues.c.project_id, issues.c.iid).where(issues.c.id == _ID)
_MERGE_REQUEST = select(merge_requests.c.target_project_id, merge_requests.c.iid).where(merge_requests.c.id == _ID)
_SNIPPET = select(snippets.c.project_id).where(snippets.c.id == _ID)
_LABEL = select(labels.c.project_id, labels.c.group_id).where(labels.c.id == _ID)
_LABEL_TITLES = select(labels.c.id, labels.c.title).where(in_list(labels.c.id, "ids"))
_MILESTONE = select(milestones.c.project_id, milestones.c.group_id).where(milestones.c.id == _ID)
_BOARD = select(boards.c.project_id, boards.c.group_id).where(boards.c.id == _ID)
_BOARD_LIST = (
    select(boards.c.project_id, boards.c.group_id, boards.c.id)
    .join(board_lists, board_lists.c.board_id == boards.c.id)
    .where(board_lists.c.id == _ID)
)
_PIPELINE = select(pipelines.c.project_id).where(pipelines.c.id == _ID)
_JOB = (
    select(pipelines.c.project_id)
    .join(commit_statuses, commit_statuses.c.pipeline_id == pipelines.c.id)
    .where(commit_statuses.c.id == _ID)
)
_RELEASE_LINK = (
    select(releases.c.project_id, releases.c.tag)
    .join(release_links, release_links.c.release_id == releases.c.id)
    .where(release_links.c.id == _ID)
)
_NOTE = select(notes.c.subject_kind, notes.c.subject_id, notes.c.project_id, notes.c.commit_oid, notes.c.discussion_id)
_NOTE_BY_ID = _NOTE.where(notes.c.id == _ID)
_NOTE_OF_DISCUSSION = _NOTE.where(notes.c.discussion_id == bindparam("discussion")).order_by(notes.c.id).limit(1)
_DISCUSSIONS = select(notes.c.id, notes.c.discussion_id).where(in_list(notes.c.id, "ids"))


class SubjectPath(NamedTuple):
    """Path of a resource that has notes, such as an issue, and the parameters in it."""

    route: str
    path: dict[str, Any]


class NotePlace(NamedTuple):
    """Subject and discussion of a note."""

    subject: SubjectPath
    discussion_id: str


class ParentPath(NamedTuple):
    """Path of the project or group that contains a resource."""

    route: str
    id: int


def _row(context: QueryContext, statement: Select[Any], what: str, **values: Any) -> tuple[Any, ...]:
    rows = context.read(lambda db: db.rows(statement, **values))
    if not rows:
        raise NotFound(what)
    return rows[0]


def issue_path(context: QueryContext, issue_id: int) -> SubjectPath:
    """Return the path of an issue."""
    project_id, iid = _row(context, _ISSUE, "Issue", id=issue_id)
    return SubjectPath("/projects/:id/issues/:issue_iid", {"id": project_id, "issue_iid": iid})


def merge_request_path(context: QueryContext, merge_request_id: int) -> SubjectPath:
    """Return the path of a merge request."""
    project_id, iid = _row(context, _MERGE_REQUEST, "MergeRequest", id=merge_request_id)
    path = {"id": project_id, "merge_request_iid": iid}
    return SubjectPath("/projects/:id/merge_requests/:merge_request_iid", path)


def snippet_path(context: QueryContext, snippet_id: int) -> SubjectPath:
    """Return the path of a personal snippet or of a snippet in a project."""
    (project_id,) = _row(context, _SNIPPET, "Snippet", id=snippet_id)
    if project_id is None:
        return SubjectPath("/snippets/:id", {"id": snippet_id})
    return SubjectPath("/projects/:id/snippets/:snippet_id", {"id": project_id, "snippet_id": snippet_id})


def _parent(project_id: int | None, group_id: int | None) -> ParentPath:
    return ParentPath("/groups/:id", group_id or 0) if project_id is None else ParentPath("/projects/:id", project_id)


def label_parent(context: QueryContext, label_id: int) -> ParentPath:
    """Return the project or group of a label."""
    return _parent(*_row(context, _LABEL, "Label", id=label_id))


def label_titles(context: QueryContext, label_ids: Collection[int]) -> list[str]:
    """Return the titles of labels, which REST endpoints identify them by."""
    titles = dict(context.read(lambda db: db.rows(_LABEL_TITLES, ids=list(label_ids))))
    if len(titles) != len(set(label_ids)):
        raise NotFound("Label")
    return [titles[label_id] for label_id in label_ids]


def milestone_parent(context: QueryContext, milestone_id: int) -> ParentPath:
    """Return the project or group of a milestone."""
    return _parent(*_row(context, _MILESTONE, "Milestone", id=milestone_id))


def board_parent(context: QueryContext, board_id: int) -> ParentPath:
    """Return the project or group of a board."""
    return _parent(*_row(context, _BOARD, "Board", id=board_id))


def board_list_parent(context: QueryContext, list_id: int) -> tuple[ParentPath, int]:
    """Return the project or group of a list, and its board."""
    project_id, group_id, board_id = _row(context, _BOARD_LIST, "List", id=list_id)
    return _parent(project_id, group_id), board_id


def pipeline_project(context: QueryContext, pipeline_id: int) -> int:
    """Return the project of a pipeline."""
    return int(_row(context, _PIPELINE, "Pipeline", id=pipeline_id)[0])


def job_project(context: QueryContext, job_id: int) -> int:
    """Return the project of a job."""
    return int(_row(context, _JOB, "Job", id=job_id)[0])


def release_of_link(context: QueryContext, link_id: int) -> tuple[int, str]:
    """Return the project and tag of a release link."""
    project_id, tag_name = _row(context, _RELEASE_LINK, "Link", id=link_id)
    return project_id, tag_name


def note_place(context: QueryContext, note_id: int) -> NotePlace:
    """Return the subject and discussion of a note."""
    return _place(context, _row(context, _NOTE_BY_ID, "Note", id=note_id))


def discussion_place(context: QueryContext, discussion_id: str) -> NotePlace:
    """Return the subject of a discussion."""
    return _place(context, _row(context, _NOTE_OF_DISCUSSION, "Discussion", discussion=discussion_id))


def _place(context: QueryContext, row: tuple[Any, ...]) -> NotePlace:
    kind, subject_id, project_id, commit_oid, discussion_id = row
    if kind == "commit":
        path = {"id": project_id, "sha": commit_oid}
        return NotePlace(SubjectPath("/projects/:id/repository/commits/:sha", path), discussion_id)
    find = {"issue": issue_path, "merge_request": merge_request_path, "snippet": snippet_path}.get(kind)
    if find is None:
        raise NotFound("Note")
    return NotePlace(find(context, subject_id), discussion_id)


def discussions_of(db: Connection, note_ids: Collection[int]) -> dict[int, str]:
    """Return the ids of the discussions of notes; one statement."""
    return dict(db.rows(_DISCUSSIONS, ids=list(note_ids)))
