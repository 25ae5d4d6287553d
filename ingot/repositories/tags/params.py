"""What callers send about tags."""

from typing import Annotated, Literal

from msgspec import Meta

from ingot.core.api.params import Params

MAX_TEXT_LENGTH = 1_000_000


class ListTags(Params):
    """Which tags, and in which order."""

    order_by: Literal["name", "updated", "version"] = "name"
    sort: Literal["asc", "desc"] = "desc"
    search: str = ""


class CreateTag(Params):
    """A new tag, and what it points at; with a message it is an annotated one."""

    tag_name: str
    ref: str
    message: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)] | None = None
    release_description: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)] | None = None


class DescribeRelease(Params):
    """What is told about a tag."""

    description: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)]
