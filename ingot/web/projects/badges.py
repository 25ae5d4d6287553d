"""The badges of a project, as its home shows them."""

from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page as ListPage
from ingot.projects.badges.queries import list_badges
from ingot.projects.badges.tables import Badge
from ingot.projects.badges.views import BadgeRenderer
from ingot.projects.projects.queries import member_source
from ingot.projects.projects.tables import Project
from ingot.web.external_images import is_local_image

_MAX_BADGES = 30
_BADGE_BYTES = 400


class RenderedBadge(NamedTuple):
    """A badge with its addresses filled in."""

    name: str
    link: str
    picture: str
    """Nothing where it lies on another host, which pages ask for nothing."""


def rendered_badges(db: Connection, project: Project, commit: str | None, base: str) -> list[RenderedBadge]:
    """Those of the project and of its groups; ``commit`` is the newest that the visitor may see."""
    rendering = BadgeRenderer(project, lambda _: commit)
    return [_render_badge(badge, rendering, base) for badge in _badges(db, project)]


def _badges(db: Connection, project: Project) -> tuple[Badge, ...]:
    """Most projects have none, and are not asked for them again while nothing was committed."""

    def read() -> tuple[Badge, ...]:
        return tuple(list_badges(db, member_source(project), None, ListPage(1, _MAX_BADGES)).items)

    return db.cached(("badges", project.id), read, lambda found: _BADGE_BYTES * (len(found) + 1)) or ()


def _render_badge(badge: Badge, rendering: BadgeRenderer, base: str) -> RenderedBadge:
    link, picture = rendering.url(badge.link_url), rendering.url(badge.image_url)
    name = badge.name or urlsplit(link).netloc.rpartition("@")[2]
    return RenderedBadge(name, link, picture if is_local_image(picture, base) else "")
