"""Request parameters of commits."""

from typing import Annotated, Literal

from msgspec import Meta

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp


class ListCommits(Params):
    """Filters and order of a list of commits."""

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
    """Option to include line counts."""

    stats: bool = True


class ListCommitRefs(Params):
    """Restriction to branches or tags."""

    type: Literal["all", "branch", "tag"] = "all"


class GetSequence(Params):
    """Option to follow only first parents."""

    first_parent: bool = False
