"""What callers send about files."""

from typing import Annotated

from msgspec import Meta

from ingot.core.api.params import Params


class GetFile(Params):
    """A file as a branch, a tag or a commit has it."""

    ref: str


class LineRange(Params):
    """Some lines of a file, counted from 1, both ends included."""

    start: Annotated[int, Meta(ge=1)]
    end: Annotated[int, Meta(ge=1)]


class GetBlame(Params):
    """A file as a branch, a tag or a commit has it, or some lines of it."""

    ref: str
    range: LineRange | None = None
