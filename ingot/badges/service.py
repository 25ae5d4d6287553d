"""What changes badges."""

import re
from urllib.parse import urlsplit

from ingot.api.params import given
from ingot.badges.params import CreateBadge, EditBadge
from ingot.badges.queries import find_badge
from ingot.badges.tables import Badge, badges
from ingot.db.connection import Connection
from ingot.errors import Invalid, too_long
from ingot.groups.members.queries import Source

MOST_CHARACTERS = 255
LONGEST_URL = 2048
_WEB = re.compile(r"https?://[^\s\x00-\x1f\x7f\"<>\\^`|]+", re.IGNORECASE)


def create_badge(db: Connection, source: Source, wanted: CreateBadge) -> Badge:
    """Add a badge."""
    validate(wanted.name, wanted.link_url, wanted.image_url)
    badge_id = db.insert(
        badges,
        project_id=source.id if source.kind == "project" else None,
        group_id=source.id if source.kind == "group" else None,
        name=wanted.name,
        link_url=wanted.link_url,
        image_url=wanted.image_url,
        created_at=db.now,
    )
    return find_badge(db, source, badge_id)


def edit_badge(db: Connection, source: Source, badge: Badge, wanted: EditBadge) -> Badge:
    """Change what was sent."""
    columns = given(wanted)
    now = {"name": badge.name, "link_url": badge.link_url, "image_url": badge.image_url, **columns}
    validate(now["name"], now["link_url"], now["image_url"])
    db.update(badges, badge.id, **columns)
    return find_badge(db, source, badge.id)


def delete_badge(db: Connection, badge: Badge) -> None:
    """Remove a badge."""
    db.delete(badges, badge.id)


def validate(name: str | None, link_url: str, image_url: str) -> None:
    """Refuse what a badge cannot be: above all links that are no addresses in the web, since pages show them."""
    errors: dict[str, list[str]] = {}
    for field, url in (("link_url", link_url), ("image_url", image_url)):
        if len(url) > LONGEST_URL:
            errors[field] = [too_long(LONGEST_URL)]
        elif not _is_web_url(url):
            errors[field] = ["must be a valid URL"]
    if len(name or "") > MOST_CHARACTERS:
        errors["name"] = [too_long(MOST_CHARACTERS)]
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
