"""Details of users: attributes that are stored as one JSON document, with GitLab's names.

docs/attributes.md is generated from this struct.
"""

from functools import lru_cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ingot.core.api.declared_fields import fixed

_Text = Annotated[str, Meta(max_length=10_000)]
_Theme = Annotated[int, Meta(ge=1, le=100)]
_Line = Annotated[str, Meta(max_length=255)]


class UserDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """Details of a user."""

    note: (
        Annotated[_Text, Meta(description="Note for administrators, shown on the user's page of the administration.")]
        | None
    ) = None
    private_profile: Annotated[
        bool, Meta(description="Other users see name and picture only, except administrators.")
    ] = False
    theme_id: Annotated[_Theme, fixed("The theme of the browser decides.")] | None = None
    job_title: Annotated[_Line, Meta(description="Shown on the profile.")] | None = None
    pronouns: Annotated[_Line, Meta(description="Shown on the profile.")] | None = None
    discord: Annotated[_Line, Meta(description="Shown on the profile.")] | None = None
    bluesky: Annotated[_Line, Meta(description="Shown on the profile.")] | None = None
    mastodon: Annotated[_Line, Meta(description="Shown on the profile.")] | None = None
    view_diffs_file_by_file: Annotated[bool, fixed("Diffs show all files.")] = False
    commit_email: (
        Annotated[
            _Line,
            Meta(description="Address in commits of pages and the API: a private one, or one of the confirmed ones."),
        ]
        | None
    ) = None


COMPUTED_DETAILS = ("commit_email",)
"""Details that requests and responses contain in another form."""
PUBLIC_DETAILS = ("job_title", "pronouns", "discord")
"""Details that everybody may read who may see the profile."""
_FOR_ADMINISTRATORS = tuple(
    name for name in UserDetails.__struct_fields__ if name not in (*COMPUTED_DETAILS, *PUBLIC_DETAILS)
)


_decode = msgspec.json.Decoder(UserDetails).decode


@lru_cache(1024)
def user_details(document: str) -> UserDetails:
    """Return the details of a stored document, with defaults for those that it omits."""
    return _decode(document)


@lru_cache(1024)
def shown_user_details(document: str) -> tuple[Any, ...]:
    """Return the values of the details for administrators in the order of the view's fields."""
    details = user_details(document)
    return tuple(getattr(details, name) for name in _FOR_ADMINISTRATORS)


def edited_user_details(document: str, given: dict[str, Any]) -> str:
    """Return the document with the given details changed; an empty text removes the detail."""
    details = user_details(document)
    changes = {
        name: None if given[name] == "" else given[name] for name in UserDetails.__struct_fields__ if name in given
    }
    return msgspec.json.encode(msgspec.structs.replace(details, **changes)).decode()
