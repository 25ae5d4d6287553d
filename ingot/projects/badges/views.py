"""Response structs of badges, with the placeholders in their URLs replaced."""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple
from urllib.parse import quote

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.projects.badges.queries import list_badges
from ingot.projects.badges.tables import Badge
from ingot.projects.projects.queries import member_source
from ingot.projects.projects.tables import Project

_MOST_SHOWN = 30
_BADGE_BYTES = 400

_PLACEHOLDER = re.compile(r"%\{(\w+)\}")
# Characters that are allowed in URLs are left unchanged; all others are percent-encoded.
_URL_CHARACTERS = ":/?#[]@!$&'()*+,;=%~{}"


class RenderedBadgeView(View):
    """Preview of a badge that may not exist."""

    name: str | None
    link_url: str
    image_url: str
    rendered_link_url: str
    rendered_image_url: str


class BadgeView(RenderedBadgeView):
    """Badge."""

    id: int
    kind: Literal["project", "group"]


class BadgeRenderer:
    """Replacement of placeholders by a project's values; without a project they are left unchanged."""

    def __init__(self, project: Project | None, commit_sha: Callable[[Project], str | None]) -> None:
        self._project = project
        self._commit_sha = commit_sha
        self._values: dict[str, str | None] = {}

    def url(self, text: str) -> str:
        """Return the URL with its known placeholders replaced."""
        return quote(_PLACEHOLDER.sub(self._replace, text), safe=_URL_CHARACTERS)

    def _replace(self, match: "re.Match[str]") -> str:
        name = match[1]
        if name not in self._values:
            self._values[name] = self._value(name)
        value = self._values[name]
        return match[0] if value is None else quote(value, safe="/")

    def _value(self, name: str) -> str | None:
        project = self._project
        if project is None:
            return None
        if name == "commit_sha":
            return self._commit_sha(project)
        return {
            "project_path": project.full_path,
            "project_id": str(project.id),
            "project_name": project.path,
            "project_title": project.name,
            "project_namespace": project.space_full_path,
            "default_branch": project.default_branch,
        }.get(name)


def rendered_view(name: str | None, link_url: str, image_url: str, rendering: BadgeRenderer) -> RenderedBadgeView:
    """Return the preview of a badge with these URLs."""
    return RenderedBadgeView(name, link_url, image_url, rendering.url(link_url), rendering.url(image_url))


def badge_view(badge: Badge, rendering: BadgeRenderer) -> BadgeView:
    """Return the view of a badge."""
    return BadgeView(
        badge.name,
        badge.link_url,
        badge.image_url,
        rendering.url(badge.link_url),
        rendering.url(badge.image_url),
        badge.id,
        "project" if badge.group_id is None else "group",
    )


class ShownBadge(NamedTuple):
    """A badge on the home of a project, with its placeholders replaced."""

    name: str | None
    link: str
    picture: str


def badges_of_project(db: Connection, project: Project, commit: str | None) -> list[ShownBadge]:
    """Return the badges of a project and of its groups; ``commit`` is the newest that the visitor may see."""

    def read() -> tuple[Badge, ...]:
        return tuple(list_badges(db, member_source(project), None, Page(1, _MOST_SHOWN)).items)

    # Most projects have none; this is known until the next commit.
    badges = db.cached(("badges", project.id), read, lambda found: _BADGE_BYTES * (len(found) + 1)) or ()
    rendering = BadgeRenderer(project, lambda _: commit)
    return [ShownBadge(badge.name, rendering.url(badge.link_url), rendering.url(badge.image_url)) for badge in badges]
