"""Request parameters of tags and their releases."""

from typing import Annotated, Literal

from msgspec import Meta

from ingot.core.api.params import Params

MAX_TEXT_LENGTH = 1_000_000


class ListTags(Params):
    """Filter and order of tags."""

    order_by: Literal["name", "updated", "version"] = "name"
    sort: Literal["asc", "desc"] = "desc"
    search: str = ""


class CreateTag(Params):
    """A new tag and its target; with a message it is an annotated tag."""

    tag_name: str
    ref: str
    message: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)] | None = None
    release_description: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)] | None = None


class DescribeRelease(Params):
    """Description of a release."""

    description: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)]
