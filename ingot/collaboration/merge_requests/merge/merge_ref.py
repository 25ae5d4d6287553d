"""Preview of a merge: a commit under ``refs/merge-requests`` that clients can fetch before merging."""

from typing import NamedTuple

from ingot.collaboration.merge_requests.merge.commit_messages import MessageContext, merge_message
from ingot.collaboration.merge_requests.merge.message_people import message_context, message_people
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Invalid
from ingot.git.history.ancestry import is_ancestor
from ingot.git.history.commits import NO_OID, branch_tip, commit_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.commits import CommitMetadata
from ingot.git.writing.merge_commits import merge_commit
from ingot.git.writing.merge_request_commits import merge_request_merge_ref
from ingot.git.writing.merge_trees import MergeConflict
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs
from ingot.projects.projects.tables import Project


class TrialMerge(NamedTuple):
    """A trial merge: the commit, and the tip of the target branch that it is based on."""

    commit: str
    target: str


def trial_merge(
    database: Database, store: RepositoryStore, project: Project, merge_request: MergeRequest
) -> TrialMerge:
    """Return a trial merge, stored under a ref; create it again if source or target has changed.

    Raises ``Invalid`` if the merge request cannot be merged.
    """
    repository, ref = store.open(project.repository_key), merge_request_merge_ref(merge_request.iid)
    tip, head = branch_tip(repository, merge_request.target_branch), merge_request.head_oid
    before = repository.tip(ref)
    existing = commit_or_none(repository, before) if before else None
    if existing is not None and tip is not None and existing.parents == (tip, head):
        return TrialMerge(existing.oid, tip)
    if merge_request.state != "opened" or tip is None or is_ancestor(repository, head, tip):
        raise Invalid("Merge request is not mergeable")

    def read(db: Connection) -> MessageContext:
        people = message_people(db, project, merge_request, merge_request.author_id)
        return message_context(db, project, merge_request, people, repository, tip)

    context = database.read(read)
    metadata = CommitMetadata(merge_message(context), context.author, context.author)
    try:
        created = merge_commit(repository, tip, head, metadata).commit
        update_refs(repository, [RefUpdate(ref, before or NO_OID, created)])
    except MergeConflict:
        raise Invalid("Merge request is not mergeable") from None
    except RefMoved:  # A concurrent request has created it.
        return TrialMerge(created, tip)
    return TrialMerge(created, tip)
