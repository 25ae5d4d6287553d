"""What callers may send about commits."""

from typing import Annotated, Literal

from msgspec import Meta

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp


class ListCommits(Params):
    """Which of them."""

    ref_name: str = ""
    since: Timestamp | None = None
    until: Timestamp | None = None
    path: Annotated[str, Meta(max_length=4096)] = ""
    follow: bool = False
    author: Annotated[str, Meta(max_length=255)] = ""
    all: bool = False
    with_stats: bool = False
    first_parent: bool = False
    order: Literal["default", "topo"] = "default"


class GetCommit(Params):
    """Whether its lines are counted."""

    stats: bool = True


class ListCommitRefs(Params):
    """Which of the branches and tags."""

    type: Literal["all", "branch", "tag"] = "all"


class GetSequence(Params):
    """Which of the ways through merges."""

    first_parent: bool = False
