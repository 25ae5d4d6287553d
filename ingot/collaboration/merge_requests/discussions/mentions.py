"""Recording below issues and merge requests that a merge request mentions them, and the other way round."""

from collections.abc import Sequence

from ingot.accounts.users.actors import active_actor
from ingot.collaboration.issues.events import CommitReferencesFound
from ingot.collaboration.issues.service import subject_of as subject_of_issue
from ingot.collaboration.issues.text_references import referenced_issues
from ingot.collaboration.merge_requests.queries import contains_commit, visible_merge_requests_by_iid
from ingot.collaboration.merge_requests.service import lock_merge_request_row, subject_of
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.notes.service import MentionSource, add_mention
from ingot.collaboration.planning.references import referenced_iids
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.references import Reference, can_mention_issues, can_mention_subjects, extract_references
from ingot.errors import NotFound
from ingot.projects.projects.queries import paths_of_projects

_NOUNS = {"issue": ("issue", "#"), "merge_request": ("merge request", "!")}


def record_mentions(db: Connection, writer_id: int, merge_request: MergeRequest, text: str, base_url: str) -> None:
    """Tell what a text of a merge request names that it does, as far as who wrote it sees it."""
    writer = active_actor(db, writer_id) if can_mention_issues(text) else None
    if writer is not None:
        own = paths_of_projects(db, [merge_request.target_project_id])[merge_request.target_project_id]
        for found in referenced_issues(db, writer, own, extract_references(text, base_url)):
            _mention(db, writer_id, subject_of(merge_request), own, subject_of_issue(found.issue))
    record_mentions_of_merge_requests(db, writer_id, subject_of(merge_request), text, base_url)


def record_mentions_of_merge_requests(
    db: Connection, writer_id: int, source: Subject, text: str, base_url: str
) -> None:
    """Tell the merge requests that a text of something names that it does; what is confidential is told to nobody."""
    if source.confidential or not can_mention_subjects(text) or source.project_id is None or source.kind not in _NOUNS:
        return
    writer = active_actor(db, writer_id)
    if writer is None:
        return
    own = paths_of_projects(db, [source.project_id])[source.project_id]
    for target in referenced_merge_requests(db, writer, own, extract_references(text, base_url)):
        _mention(db, writer_id, source, own, subject_of(target))


def referenced_merge_requests(db: Connection, actor: Actor, own: str, named: Sequence[Reference]) -> list[MergeRequest]:
    """Those that references in a text of the project ``own`` lead to, as far as somebody sees them; each once."""
    targets = referenced_iids(db, actor, own, named, "merge_request")
    found = visible_merge_requests_by_iid(db, actor, targets.scopes, targets.iids)
    return [found[key] for key in targets.iids if key in found]


def record_mentions_by_commit(db: Connection, commit: CommitReferencesFound) -> None:
    """Tell the merge requests that a commit names that it does, but for those that brought it themselves."""
    named = referenced_merge_requests(db, commit.actor, commit.project_path, commit.named)
    # In one order, so that two who mention the same do not wait for each other both at once.
    for target in sorted(named, key=lambda one: one.id):
        if contains_commit(db, target, commit.oid):
            continue
        try:
            held = lock_merge_request_row(db, target)
        except NotFound:  # Somebody has deleted it meanwhile.
            continue
        place = "" if target.target_project_id == commit.project_id else f"{commit.project_path}@"
        source = MentionSource("commit", None, commit.project_id)
        add_mention(db, commit.actor.user_id, subject_of(held), f"mentioned in commit {place}{commit.oid}", source)


def _mention(db: Connection, writer_id: int, source: Subject, own: str, target: Subject) -> None:
    if (source.kind, source.id) == (target.kind, target.id) or source.project_id is None or source.id is None:
        return
    near = source.project_id == target.project_id
    noun, sign = _NOUNS[source.kind]
    text = f"mentioned in {noun} {'' if near else own}{sign}{source.iid}"
    add_mention(db, writer_id, target, text, MentionSource(source.kind, source.id, source.project_id))
