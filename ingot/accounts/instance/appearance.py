"""Texts with which administrators adapt the pages, stored with the settings of the instance."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ingot.accounts.instance.settings import cached_stored_settings
from ingot.accounts.instance.tables import StoredSettings
from ingot.core.api.params import Params
from ingot.core.db.connection import Connection

Line = Annotated[str, Meta(max_length=1000)]
LongText = Annotated[str, Meta(max_length=100_000)]
_Unsupported = Annotated[Any, Meta(description="Refused: it would have no effect on this server.")]


class Appearance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Texts on the pages; empty ones are not shown."""

    title: str = ""
    description: str = ""
    header_message: str = ""
    footer_message: str = ""
    new_project_guidelines: str = ""
    member_guidelines: str = ""
    profile_image_guidelines: str = ""


class StoredAppearance(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of the stored document with the texts."""

    appearance: Appearance = Appearance()


class ChangeAppearance(Params):
    """Texts to change."""

    title: Line | UnsetType = UNSET
    description: LongText | UnsetType = UNSET
    header_message: Line | UnsetType = UNSET
    footer_message: Line | UnsetType = UNSET
    new_project_guidelines: LongText | UnsetType = UNSET
    member_guidelines: LongText | UnsetType = UNSET
    profile_image_guidelines: LongText | UnsetType = UNSET
    email_header_and_footer_enabled: _Unsupported = UNSET
    favicon: _Unsupported = UNSET
    header_logo: _Unsupported = UNSET
    logo: _Unsupported = UNSET
    message_background_color: _Unsupported = UNSET
    message_font_color: _Unsupported = UNSET
    pwa_description: _Unsupported = UNSET
    pwa_icon: _Unsupported = UNSET
    pwa_name: _Unsupported = UNSET
    pwa_short_name: _Unsupported = UNSET


def decode_appearance(stored: StoredSettings) -> Appearance:
    """Return the texts of a stored row."""
    return msgspec.json.decode(stored.document, type=StoredAppearance).appearance


def current_appearance(db: Connection) -> Appearance:
    """Return the current texts, from the read cache."""
    return decode_appearance(cached_stored_settings(db))
