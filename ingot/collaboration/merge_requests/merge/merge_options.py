"""Options of a merge, at once or scheduled."""

import msgspec

from ingot.collaboration.merge_requests.tables import Strategy


class MergeOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Options of a merge; by default those of the merge request and its project.

    Stored as JSON for scheduled merges.
    """

    commit_message: str | None = None
    squash_commit_message: str | None = None
    squash: bool | None = None
    should_remove_source_branch: bool | None = None
    sha: str | None = None
    """The head that the caller has seen; another head is not merged."""
    strategy: Strategy = "merge_when_checks_pass"
    waits_for_checks: bool = False
    """Whether it waits for all checks, such as approvals, and not only for the pipeline."""


DEFAULT_MERGE_OPTIONS = MergeOptions()
AUTO_MERGE = "auto_merge"
REMOVE_LEFTOVER_BRANCH = "remove_source_branch"


def encode_merge_options(options: MergeOptions) -> str:
    """Return the options as JSON."""
    return msgspec.json.encode(options).decode()


def decode_merge_options(document: str | None) -> MergeOptions:
    """Return the options from JSON, or the defaults."""
    return msgspec.json.decode(document, type=MergeOptions) if document else DEFAULT_MERGE_OPTIONS
