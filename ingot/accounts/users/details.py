"""Details of users: attributes that are stored as one JSON document, with GitLab's names.

Administrators set and see them; they have no effect. docs/attributes.md is generated from this struct.
"""

from functools import lru_cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

_Line = Annotated[str, Meta(max_length=255)]


class UserDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """Details of a user."""

    note: Annotated[str, Meta(max_length=10_000)] | None = None
    private_profile: bool = False
    theme_id: Annotated[int, Meta(ge=1, le=100)] | None = None
    job_title: _Line | None = None
    pronouns: _Line | None = None
    discord: _Line | None = None
    bluesky: _Line | None = None
    mastodon: _Line | None = None
    view_diffs_file_by_file: bool = False


_decode = msgspec.json.Decoder(UserDetails).decode


@lru_cache(1024)
def shown_user_details(document: str) -> tuple[Any, ...]:
    """Return the values of the details in the order of the view's fields."""
    return msgspec.structs.astuple(_decode(document))


def edited_user_details(document: str, given: dict[str, Any]) -> str:
    """Return the document with the given details changed."""
    details = _decode(document)
    changes = {name: given[name] for name in UserDetails.__struct_fields__ if name in given}
    return msgspec.json.encode(msgspec.structs.replace(details, **changes)).decode()
