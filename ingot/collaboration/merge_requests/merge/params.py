"""Request parameters of merging."""

from typing import Literal

from ingot.core.api.params import Params


class MergeMergeRequest(Params):
    """Options of a merge; ``auto_merge`` waits for all checks, ``merge_when_pipeline_succeeds`` for the pipeline."""

    merge_commit_message: str | None = None
    squash_commit_message: str | None = None
    squash: bool | None = None
    should_remove_source_branch: bool | None = None
    merge_when_pipeline_succeeds: bool | None = None
    auto_merge: bool | None = None
    sha: str | None = None
    skip_merge_train: bool | None = None
    """Does not restart the merge train, if the project allows that."""


class ListTrainCars(Params):
    """Filters of cars of merge trains."""

    scope: Literal["active", "complete"] | None = None
    sort: Literal["asc", "desc"] = "desc"


class AddToTrain(Params):
    """Options of a merge by a train; ``auto_merge`` is the newer name of ``when_pipeline_succeeds``."""

    auto_merge: bool | None = None
    when_pipeline_succeeds: bool | None = None
    sha: str | None = None
    squash: bool | None = None


class MergeStack(Params):
    """Options of a merge of a stack."""

    sha: str | None = None
    """The head of the merge request that the caller has seen; another head is not merged."""


class RebaseMergeRequest(Params):
    """Options of a rebase."""

    skip_ci: bool | None = None
    """Accepted because clients send it; has no effect."""
