"""Commits that merge trains test: what the target branch will be after the merge of a car."""

from ingot.collaboration.merge_requests.merge.commit_messages import merge_message, squash_message
from ingot.collaboration.merge_requests.merge.context import MergeContext, is_squash_requested, should_squash
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions, decode_merge_options
from ingot.collaboration.merge_requests.stacks.own_commits import own_head
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.git.core.repository import Repository
from ingot.git.history.ancestry import is_ancestor
from ingot.git.history.commits import read_commits
from ingot.git.writing.commits import CommitMetadata, write_commit
from ingot.git.writing.merge_commits import MergeResult, merge_commit, rebase_commits, squash_merge
from ingot.git.writing.merge_trees import MergeConflict, write_merged_tree
from ingot.projects.projects.tables import Project


class NothingToMerge(MergeConflict):
    """The target contains the changes already."""


def merge_settings(project: Project, merge_request: MergeRequest) -> str:
    """Return the settings by which the commits of a merge request are built; with others, they are built again."""
    squash = is_squash_requested(project, merge_request, decode_merge_options(merge_request.merge_params))
    return f"{project.merge_method}, squash" if squash else project.merge_method


def build_train_commits(context: MergeContext, options: MergeOptions, base: str) -> MergeResult:
    """Create the commits of a merge into ``base``, by the merge method of the project.

    Raises ``MergeConflict``, ``NothingToMerge``, and ``TooManyCommits`` for a long rebase.
    """
    result = _build(context, options, base)
    _require_changes(context.repository, context.merge_request.head_oid, base, result.commit)
    return result


def _require_changes(repository: Repository, head: str, base: str, commit: str) -> None:
    """Raise ``MergeConflict`` if ``base`` contains the head already.

    Only a merge that changes nothing may be one; looking first would cost another git process for each car.
    """
    merged, target = read_commits(repository, [commit, base])
    if merged.tree == target.tree and is_ancestor(repository, head, base):
        raise NothingToMerge


def _build(context: MergeContext, options: MergeOptions, base: str) -> MergeResult:
    project, repository = context.project, context.repository
    author, caller = context.messages.author, context.messages.merged_by
    head = own_head(repository, context.merge_request.head_oid, base, context.lower_heads, caller)
    if head == base:
        raise NothingToMerge
    metadata = CommitMetadata((options.commit_message or "").strip() or merge_message(context.messages), caller, caller)
    squash = should_squash(context, options, base, head)
    text = (options.squash_commit_message or "").strip() or squash_message(context.messages) if squash else ""
    squash_metadata = CommitMetadata(text, author, caller)
    if project.merge_method == "merge":
        if squash:
            return squash_merge(repository, base, head, squash_metadata, metadata)
        return merge_commit(repository, base, head, metadata)
    if squash:
        rebased = write_commit(repository, write_merged_tree(repository, base, head), [base], squash_metadata)
    else:
        rebased = head if is_ancestor(repository, base, head) else rebase_commits(repository, base, head, caller)
        if rebased == base:
            raise NothingToMerge
    squashed = rebased if squash else None
    if project.merge_method == "ff":
        return MergeResult(rebased, squashed)
    (tip,) = read_commits(repository, [rebased])
    return MergeResult(write_commit(repository, tip.tree, [base, rebased], metadata), squashed)
