"""What somebody asked for when they had something merged, now or later."""

import msgspec


class Wish(msgspec.Struct, frozen=True, omit_defaults=True):
    """How to merge; what is not said is as the merge request and its project have it. Kept as JSON for later."""

    commit_message: str | None = None
    squash_commit_message: str | None = None
    squash: bool | None = None
    should_remove_source_branch: bool | None = None
    sha: str | None = None
    """The head that the caller has seen: another one is not merged."""


NO_WISH = Wish()
MERGE_WHEN_READY = "merge when the pipeline has succeeded"
REMOVE_LEFT_BRANCH = "remove a branch that was merged"


def encode_wish(wish: Wish) -> str:
    """A wish as it is kept."""
    return msgspec.json.encode(wish).decode()


def decode_wish(kept: str | None) -> Wish:
    """A wish that was kept."""
    return msgspec.json.decode(kept, type=Wish) if kept else NO_WISH
