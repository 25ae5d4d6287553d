"""Response struct of the appearance."""

from typing import Any

import msgspec

from ingot.accounts.appearance.records import IMAGES, Appearance
from ingot.core.api.views import View


class AppearanceView(View):
    """Texts, colors and paths of images; the description and the guidelines are Markdown."""

    title: str
    description: str
    pwa_name: str
    pwa_short_name: str
    pwa_description: str
    pwa_icon: str | None
    logo: str | None
    header_logo: str | None
    favicon: str | None
    member_guidelines: str
    new_project_guidelines: str
    profile_image_guidelines: str
    header_message: str
    footer_message: str
    message_background_color: str
    message_font_color: str
    email_header_and_footer_enabled: bool


def appearance_view(appearance: Appearance) -> AppearanceView:
    """Return the view of the appearance."""
    images: dict[str, Any] = {name: appearance.image_url(name) for name in IMAGES}
    return AppearanceView(**msgspec.structs.asdict(appearance) | images)
