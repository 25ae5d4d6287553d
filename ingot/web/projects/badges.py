"""Badges on the home page of a project."""

from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.projects.badges.views import ShownBadge
from ingot.web.external_images import is_local_image


class PageBadge(NamedTuple):
    """Badge with its name, link and image."""

    name: str
    link: str
    picture: str
    """Empty if the image is on another host, since pages load nothing from other hosts."""


def page_badge(badge: ShownBadge, base: str) -> PageBadge:
    """Return a badge for the page; without a name it is named after the host of its link."""
    name = badge.name or urlsplit(badge.link).netloc.rpartition("@")[2]
    return PageBadge(name, badge.link, badge.picture if is_local_image(badge.picture, base) else "")
