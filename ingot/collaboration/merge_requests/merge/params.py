"""What callers send to have something merged."""

from ingot.core.api.params import Params


class MergeMergeRequest(Params):
    """How to merge; ``auto_merge`` is the newer word for merging when the pipeline succeeds."""

    merge_commit_message: str | None = None
    squash_commit_message: str | None = None
    squash: bool | None = None
    should_remove_source_branch: bool | None = None
    merge_when_pipeline_succeeds: bool | None = None
    auto_merge: bool | None = None
    sha: str | None = None
    skip_merge_train: bool | None = None
    """Known to clients, and without effect."""


class RebaseMergeRequest(Params):
    """How to rebase."""

    skip_ci: bool | None = None
    """Known to clients, and without effect."""
