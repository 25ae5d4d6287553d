"""What a target would be with a merge request in it: a commit to fetch and look at before anybody merges."""

from functools import partial

from ingot.db.database import Database
from ingot.errors import Invalid
from ingot.git.ancestry import is_ancestor
from ingot.git.commits import NO_OID, branch_tip, commit_or_none
from ingot.git.merge_commits import merge_commit
from ingot.git.merge_trees import CannotMerge
from ingot.git.offered import merge_ref
from ingot.git.store import Store
from ingot.git.updating import RefMoved, RefUpdate, update_refs
from ingot.git.writing import Words
from ingot.merge_requests.merging.queries import open_issues_to_close
from ingot.merge_requests.merging.wording import merge_message
from ingot.merge_requests.merging.work import signature
from ingot.merge_requests.policy import Found


def tried_merge(database: Database, store: Store, found: Found) -> str:
    """The commit of a merge that nobody has made, kept under a reference; made anew when one of its sides has moved."""
    merge_request = found.merge_request
    repository, ref = store.open(found.project.repository_key), merge_ref(merge_request.iid)
    tip, head = branch_tip(repository, merge_request.target_branch), merge_request.head_oid
    before = repository.tip(ref)
    known = commit_or_none(repository, before) if before else None
    if known is not None and known.parents == (tip, head):
        return known.oid
    if merge_request.state != "opened" or tip is None or is_ancestor(repository, head, tip):
        raise Invalid("Merge request is not mergeable")
    closes = database.read(partial(open_issues_to_close, merge_request=merge_request))
    author = database.read(partial(signature, user_id=merge_request.author_id))
    words = Words(merge_message(found.project, merge_request, closes), author, author)
    try:
        made = merge_commit(repository, tip, head, words).commit
        update_refs(repository, [RefUpdate(ref, before or NO_OID, made)])
    except CannotMerge:
        raise Invalid("Merge request is not mergeable") from None
    except RefMoved:  # Somebody else has tried the same at the same time.
        return repository.tip(ref) or made
    return made
