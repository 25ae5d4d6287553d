"""Request parameters of the endpoints that read files."""

from typing import Annotated

from msgspec import Meta

from ingot.core.api.params import Params


class GetFile(Params):
    """Branch, tag or commit of a file."""

    ref: str


class LineRange(Params):
    """Range of lines, counted from 1, both ends included."""

    start: Annotated[int, Meta(ge=1)]
    end: Annotated[int, Meta(ge=1)]


class GetBlame(Params):
    """Branch, tag or commit of a file, and an optional range of lines."""

    ref: str
    range: LineRange | None = None
