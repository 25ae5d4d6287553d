"""What somebody asked for when they had something merged, now or later."""

import msgspec


class MergeOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """How to merge; what is not said is as the merge request and its project have it. Kept as JSON for later."""

    commit_message: str | None = None
    squash_commit_message: str | None = None
    squash: bool | None = None
    should_remove_source_branch: bool | None = None
    sha: str | None = None
    """The head that the caller has seen: another one is not merged."""


DEFAULT_MERGE_OPTIONS = MergeOptions()
MERGE_WHEN_READY = "merge when the pipeline has succeeded"
REMOVE_LEFTOVER_BRANCH = "remove a branch that was merged"


def encode_merge_options(options: MergeOptions) -> str:
    """A wish as it is kept."""
    return msgspec.json.encode(options).decode()


def decode_merge_options(kept: str | None) -> MergeOptions:
    """A wish that was kept."""
    return msgspec.json.decode(kept, type=MergeOptions) if kept else DEFAULT_MERGE_OPTIONS
