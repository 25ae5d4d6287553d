"""Recording below issues and merge requests that a merge request mentions them, and the other way round."""

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.issues.service import subject_of as subject_of_issue
from ingot.markup.references import full_project_path, references
from ingot.merge_requests.closing import MOST_NAMED, named_issues
from ingot.merge_requests.policy import may_read_merge_requests
from ingot.merge_requests.queries import merge_request_or_none
from ingot.merge_requests.service import subject_of
from ingot.merge_requests.tables import MergeRequest
from ingot.notes.service import Source, add_mention
from ingot.projects.queries import find_project, paths_of_projects
from ingot.subjects import Subject
from ingot.users.accounts.queries import users_by_ids
from ingot.users.accounts.tables import User

_NOUNS = {"issue": ("issue", "#"), "merge_request": ("merge request", "!")}


def record_mentions(db: Connection, writer_id: int, merge_request: MergeRequest, text: str) -> None:
    """Tell what a text of a merge request names that it does, as far as who wrote it sees it."""
    if "#" in text:
        for found in named_issues(db, writer_id, merge_request, text):
            _mention(db, writer_id, subject_of(merge_request), subject_of_issue(found.issue))
    record_mentions_of_merge_requests(db, writer_id, subject_of(merge_request), text)


def record_mentions_of_merge_requests(db: Connection, writer_id: int, source: Subject, text: str) -> None:
    """Tell the merge requests that a text of something names that it does; what is confidential is told to nobody."""
    if source.confidential or "!" not in text or source.project_id is None or source.kind not in _NOUNS:
        return
    writer = users_by_ids(db, [writer_id]).get(writer_id)
    own = paths_of_projects(db, [source.project_id])[source.project_id]
    named = {(full_project_path(one, own), one.number) for one in references(text) if one.kind == "merge_request"}
    for path, iid in sorted(named)[:MOST_NAMED]:
        target = _merge_request(db, writer, path, iid) if writer and iid else None
        if target is not None:
            _mention(db, writer_id, source, subject_of(target))


def _mention(db: Connection, writer_id: int, source: Subject, target: Subject) -> None:
    if (source.kind, source.id) == (target.kind, target.id) or source.project_id is None or source.id is None:
        return
    near = source.project_id == target.project_id
    own = "" if near else paths_of_projects(db, [source.project_id])[source.project_id]
    noun, sign = _NOUNS[source.kind]
    text = f"mentioned in {noun} {own}{sign}{source.iid}"
    add_mention(db, writer_id, target, text, Source(source.kind, source.id, source.project_id))


def _merge_request(db: Connection, writer: User, path: str, iid: int) -> MergeRequest | None:
    """The merge request that is named, if who named it may see it."""
    actor = Actor(writer.id, writer.username, writer.name, admin=writer.admin, external=writer.external)
    try:
        here, project = find_project(db, actor, path)
    except NotFound:
        return None
    seen = may_read_merge_requests(actor, here, project)
    found = merge_request_or_none(db, here, project, iid) if seen else None
    return found.merge_request if found else None
