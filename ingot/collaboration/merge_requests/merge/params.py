"""Request parameters of merging."""

from ingot.core.api.params import Params


class MergeMergeRequest(Params):
    """Options of a merge; ``auto_merge`` is the newer name of ``merge_when_pipeline_succeeds``."""

    merge_commit_message: str | None = None
    squash_commit_message: str | None = None
    squash: bool | None = None
    should_remove_source_branch: bool | None = None
    merge_when_pipeline_succeeds: bool | None = None
    auto_merge: bool | None = None
    sha: str | None = None
    skip_merge_train: bool | None = None
    """Accepted because clients send it; has no effect."""


class RebaseMergeRequest(Params):
    """Options of a rebase."""

    skip_ci: bool | None = None
    """Accepted because clients send it; has no effect."""
