"""Request parameters of the appearance."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params, Upload

_Line = Annotated[str, Meta(max_length=1000)]
_LongText = Annotated[str, Meta(max_length=100_000)]


class ChangeAppearance(Params):
    """Texts, colors and images to change; an empty image is removed."""

    title: _Line | UnsetType = UNSET
    description: _LongText | UnsetType = UNSET
    pwa_name: _Line | UnsetType = UNSET
    pwa_short_name: _Line | UnsetType = UNSET
    pwa_description: _Line | UnsetType = UNSET
    member_guidelines: _LongText | UnsetType = UNSET
    new_project_guidelines: _LongText | UnsetType = UNSET
    profile_image_guidelines: _LongText | UnsetType = UNSET
    header_message: _Line | UnsetType = UNSET
    footer_message: _Line | UnsetType = UNSET
    message_background_color: str | UnsetType = UNSET
    message_font_color: str | UnsetType = UNSET
    email_header_and_footer_enabled: bool | UnsetType = UNSET
    logo: Upload | UnsetType | None = UNSET
    header_logo: Upload | UnsetType | None = UNSET
    favicon: Upload | UnsetType | None = UNSET
    pwa_icon: Upload | UnsetType | None = UNSET
