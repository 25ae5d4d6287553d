"""State changes of the appearance."""

import re
from typing import Any

import msgspec

from ingot.accounts.appearance.params import ChangeAppearance
from ingot.accounts.appearance.records import (
    APPEARANCE_ROW,
    IMAGES,
    STORED_APPEARANCE,
    Appearance,
    AppearanceImage,
    ImageName,
    stored_appearance,
)
from ingot.accounts.avatars.queries import avatar_or_none
from ingot.accounts.avatars.service import add_avatar, delete_avatar
from ingot.accounts.instance.tables import StoredSettings, instance_settings
from ingot.core.api.params import Upload, given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid

_FAVICON_TYPES = ("image/png", "image/x-icon")
_COLOR = re.compile(r"#([0-9A-Fa-f]{3}){1,2}")
_COLORS = ("message_background_color", "message_font_color")


def change_appearance(db: Connection, params: ChangeAppearance) -> Appearance:
    """Change what is given, or nothing if any of it is invalid."""
    previous = db.first(StoredSettings, STORED_APPEARANCE.with_for_update(), row=APPEARANCE_ROW)
    appearance = stored_appearance(db)
    changes: dict[str, Any] = given_fields(params)
    for name in _COLORS:
        if name in changes and not _COLOR.fullmatch(changes[name]):
            raise Invalid(**{name: ["must be a valid color code"]})
    for name in IMAGES:
        if name in changes:
            changes[name] = _replace_image(db, name, getattr(appearance, name), changes[name])
    changed = msgspec.structs.replace(appearance, **changes)
    document = msgspec.json.encode(changed).decode()
    if previous is None:
        db.insert(instance_settings, id=APPEARANCE_ROW, document=document, created_at=db.now, updated_at=db.now)
    else:
        db.update(instance_settings, APPEARANCE_ROW, document=document, updated_at=db.now)
    return changed


def _replace_image(
    db: Connection, name: ImageName, previous: AppearanceImage | None, upload: Upload | None
) -> AppearanceImage | None:
    """Store an image, of the types and size of avatars, and delete the previous one."""
    image = None
    if upload is not None:
        try:
            avatar_id = add_avatar(db, upload.filename, upload.read())
        except Invalid as error:
            raise Invalid(**{name: error.errors["avatar"]}) from error
        stored = avatar_or_none(db, avatar_id)
        if stored is None or (name == "favicon" and stored.content_type not in _FAVICON_TYPES):
            raise Invalid(**{name: ["must be an ICO or PNG image"]})
        image = AppearanceImage(avatar_id, stored.file_name, stored.content_type)
    if previous is not None:
        delete_avatar(db, previous.avatar_id)
    return image
