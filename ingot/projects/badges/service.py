"""State changes of badges."""

import re
from urllib.parse import urlsplit

from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.projects.badges.params import CreateBadge, EditBadge
from ingot.projects.badges.queries import find_badge
from ingot.projects.badges.tables import Badge, badges
from ingot.projects.members.queries import MemberSource

MAX_NAME_LENGTH = 255
MAX_URL_LENGTH = 2048
_WEB = re.compile(r"https?://[^\s\x00-\x1f\x7f\"<>\\^`|]+", re.IGNORECASE)


def create_badge(db: Connection, source: MemberSource, params: CreateBadge) -> Badge:
    """Create a badge; raise Invalid for invalid fields."""
    validate_badge(params.name, params.link_url, params.image_url)
    badge_id = db.insert(
        badges,
        project_id=source.id if source.kind == "project" else None,
        group_id=source.id if source.kind == "group" else None,
        name=params.name,
        link_url=params.link_url,
        image_url=params.image_url,
        created_at=db.now,
    )
    return find_badge(db, source, badge_id)


def edit_badge(db: Connection, source: MemberSource, badge: Badge, params: EditBadge) -> Badge:
    """Change the given fields; raise Invalid for invalid fields."""
    columns = given_fields(params)
    merged = {"name": badge.name, "link_url": badge.link_url, "image_url": badge.image_url, **columns}
    validate_badge(merged["name"], merged["link_url"], merged["image_url"])
    db.update(badges, badge.id, **columns)
    return find_badge(db, source, badge.id)


def delete_badge(db: Connection, badge: Badge) -> None:
    """Delete a badge."""
    db.delete(badges, badge.id)


def validate_badge(name: str | None, link_url: str, image_url: str) -> None:
    """Raise Invalid for invalid fields; URLs must be http or https, because pages link to them."""
    errors: dict[str, list[str]] = {}
    for field, url in (("link_url", link_url), ("image_url", image_url)):
        if len(url) > MAX_URL_LENGTH:
            errors[field] = [too_long_message(MAX_URL_LENGTH)]
        elif not _is_web_url(url):
            errors[field] = ["must be a valid URL"]
    if len(name or "") > MAX_NAME_LENGTH:
        errors["name"] = [too_long_message(MAX_NAME_LENGTH)]
    if errors:
        raise Invalid(**errors)


def _is_web_url(url: str) -> bool:
    if not _WEB.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.netloc.rpartition("@")[2].partition(":")[0])
    except ValueError:
        return False
