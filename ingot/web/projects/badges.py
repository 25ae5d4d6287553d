"""The badges of a project, as its home shows them."""

from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.projects.badges.views import ShownBadge
from ingot.web.external_images import is_local_image


class PageBadge(NamedTuple):
    """A badge with a name and, if it lies on this host, a picture."""

    name: str
    link: str
    picture: str
    """Empty where it lies on another host, from which pages load nothing."""


def page_badge(badge: ShownBadge, base: str) -> PageBadge:
    """Name a badge after the host of its link where it has no name."""
    name = badge.name or urlsplit(badge.link).netloc.rpartition("@")[2]
    return PageBadge(name, badge.link, badge.picture if is_local_image(badge.picture, base) else "")
