"""Current appearance, from the read cache."""

from typing import Literal, get_args

import msgspec
from sqlalchemy import bindparam, select

from ingot.accounts.instance.tables import StoredSettings, instance_settings
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.core.mail.ports import MailFrame

ImageName = Literal["logo", "header_logo", "favicon", "pwa_icon"]
IMAGES: tuple[ImageName, ...] = get_args(ImageName)
APPEARANCE_ROW = 2
"""Row of the appearance; the first row of the table holds the settings of the instance."""
STORED_APPEARANCE = select(instance_settings).where(instance_settings.c.id == bindparam("row"))


class AppearanceImage(msgspec.Struct, frozen=True):
    """Stored image, with the row that contains it."""

    avatar_id: int
    file_name: str
    content_type: str


class Appearance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Current appearance; empty texts and missing images are not shown."""

    title: str = ""
    description: str = ""
    pwa_name: str = ""
    pwa_short_name: str = ""
    pwa_description: str = ""
    member_guidelines: str = ""
    new_project_guidelines: str = ""
    profile_image_guidelines: str = ""
    header_message: str = ""
    footer_message: str = ""
    message_background_color: str = "#E75E40"
    message_font_color: str = "#FFFFFF"
    email_header_and_footer_enabled: bool = False
    logo: AppearanceImage | None = None
    header_logo: AppearanceImage | None = None
    favicon: AppearanceImage | None = None
    pwa_icon: AppearanceImage | None = None

    def image_url(self, name: ImageName) -> str | None:
        """Return the path of an image; None if there is none."""
        image: AppearanceImage | None = getattr(self, name)
        return f"/uploads/-/system/appearance/{name}/{image.avatar_id}/{image.file_name}" if image else None

    @property
    def image_ids(self) -> set[int]:
        """Return the ids of the rows with the images."""
        images = (self.logo, self.header_logo, self.favicon, self.pwa_icon)
        return {image.avatar_id for image in images if image is not None}

    @property
    def has_style(self) -> bool:
        """Return whether pages show something that only ``/-/appearance.css`` describes."""
        texts = self.title or self.description or self.header_message or self.footer_message
        return bool(texts or self.logo or self.header_logo)

    @property
    def has_web_app(self) -> bool:
        """Return whether the web app differs from the default one."""
        return bool(self.pwa_name or self.pwa_short_name or self.pwa_description or self.pwa_icon)


def stored_appearance(db: Connection) -> Appearance:
    """Return the appearance of the stored row; defaults until an administrator changes it."""
    stored = db.first(StoredSettings, STORED_APPEARANCE, row=APPEARANCE_ROW)
    return msgspec.json.decode(stored.document, type=Appearance) if stored is not None else Appearance()


def current_appearance(db: Connection) -> Appearance:
    """Return the current appearance from the read cache; every page needs it."""
    appearance = db.cached(
        ("appearance",), lambda: stored_appearance(db), lambda each: len(each.description) + 4_000, lambda _: {}
    )
    assert appearance is not None  # noqa: S101 - stored_appearance never returns None.
    return appearance


def appearance_image_id(db: Connection, name: str, avatar_id: int) -> int:
    """Return the id of an image if it is the current one of this name; raise NotFound otherwise."""
    image: AppearanceImage | None = getattr(current_appearance(db), name) if name in IMAGES else None
    if image is None or image.avatar_id != avatar_id:
        raise NotFound("Image")
    return avatar_id


def mail_frame(db: Connection) -> MailFrame:
    """Return the texts above and below the text of every mail."""
    appearance = current_appearance(db)
    if not appearance.email_header_and_footer_enabled:
        return MailFrame()
    return MailFrame(appearance.header_message, appearance.footer_message)
