"""System notes about mentions between issues, merge requests and commits."""

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
from ingot.core.errors import NotFound
from ingot.core.markup.references import Reference, can_mention_issues, can_mention_subjects, extract_references
from ingot.projects.projects.queries import paths_of_projects

_NOUNS = {"issue": ("issue", "#"), "merge_request": ("merge request", "!")}


def record_mentions(db: Connection, writer_id: int, merge_request: MergeRequest, text: str, base_url: str) -> None:
    """Add system notes to issues and merge requests that a text of a merge request mentions and its author may see."""
    writer = active_actor(db, writer_id) if can_mention_issues(text) else None
    if writer is not None:
        own_path = paths_of_projects(db, [merge_request.target_project_id])[merge_request.target_project_id]
        for lookup in referenced_issues(db, writer, own_path, extract_references(text, base_url)):
            _mention(db, writer_id, subject_of(merge_request), own_path, subject_of_issue(lookup.issue))
    record_mentions_of_merge_requests(db, writer_id, subject_of(merge_request), text, base_url)


def record_mentions_of_merge_requests(
    db: Connection, writer_id: int, source: Subject, text: str, base_url: str
) -> None:
    """Add system notes to the merge requests that a text mentions; a confidential source causes none."""
    if source.confidential or not can_mention_subjects(text) or source.project_id is None or source.kind not in _NOUNS:
        return
    writer = active_actor(db, writer_id)
    if writer is None:
        return
    own_path = paths_of_projects(db, [source.project_id])[source.project_id]
    for target in referenced_merge_requests(db, writer, own_path, extract_references(text, base_url)):
        _mention(db, writer_id, source, own_path, subject_of(target))


def referenced_merge_requests(
    db: Connection, actor: Actor, own: str, references: Sequence[Reference]
) -> list[MergeRequest]:
    """Return the merge requests that a text of the project ``own`` refers to and the actor may see, each once."""
    targets = referenced_iids(db, actor, own, references, "merge_request")
    by_key = visible_merge_requests_by_iid(db, actor, targets.scopes, targets.iids)
    return [by_key[key] for key in targets.iids if key in by_key]


def record_mentions_by_commit(db: Connection, commit: CommitReferencesFound) -> None:
    """Add system notes to the merge requests that a commit mentions, except to those that contain it."""
    mentioned = referenced_merge_requests(db, commit.actor, commit.project_path, commit.named)
    # A fixed order prevents deadlocks between two transactions that mention the same merge requests.
    for target in sorted(mentioned, key=lambda merge_request: merge_request.id):
        if contains_commit(db, target, commit.oid):
            continue
        try:
            locked = lock_merge_request_row(db, target)
        except NotFound:  # Deleted since it was found.
            continue
        prefix = "" if target.target_project_id == commit.project_id else f"{commit.project_path}@"
        source = MentionSource("commit", None, commit.project_id)
        add_mention(db, commit.actor.user_id, subject_of(locked), f"mentioned in commit {prefix}{commit.oid}", source)


def _mention(db: Connection, writer_id: int, source: Subject, own_path: str, target: Subject) -> None:
    if (source.kind, source.id) == (target.kind, target.id) or source.project_id is None or source.id is None:
        return
    same_project = source.project_id == target.project_id
    noun, sign = _NOUNS[source.kind]
    text = f"mentioned in {noun} {'' if same_project else own_path}{sign}{source.iid}"
    add_mention(db, writer_id, target, text, MentionSource(source.kind, source.id, source.project_id))
