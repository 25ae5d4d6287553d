"""The badges of a project, as its home shows them."""

from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.badges.queries import list_badges
from ingot.badges.tables import Badge
from ingot.badges.views import Rendering
from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.projects.queries import source_of
from ingot.projects.tables import Project
from ingot.web.pictures import is_ours

_MOST = 30
_BADGE_BYTES = 400


class ShownBadge(NamedTuple):
    """A badge with its addresses filled in."""

    name: str
    link: str
    picture: str
    """Nothing where it lies on another host, which pages ask for nothing."""


def shown_badges(db: Connection, project: Project, commit: str | None, base: str) -> list[ShownBadge]:
    """Those of the project and of its groups; ``commit`` is the newest that the visitor may see."""
    rendering = Rendering(project, lambda _: commit)
    return [_shown(badge, rendering, base) for badge in _badges(db, project)]


def _badges(db: Connection, project: Project) -> tuple[Badge, ...]:
    """Most projects have none, and are not asked for them again while nothing was committed."""

    def read() -> tuple[Badge, ...]:
        return tuple(list_badges(db, source_of(project), None, ListPage(1, _MOST)).items)

    return db.kept(("badges", project.id), read, lambda found: _BADGE_BYTES * (len(found) + 1)) or ()


def _shown(badge: Badge, rendering: Rendering, base: str) -> ShownBadge:
    link, picture = rendering.url(badge.link_url), rendering.url(badge.image_url)
    name = badge.name or urlsplit(link).netloc.rpartition("@")[2]
    return ShownBadge(name, link, picture if is_ours(picture, base) else "")
