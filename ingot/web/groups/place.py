"""Where settings are: of a project or of a group, which are asked the same way."""

from typing import Any

from ingot.errors import NotFound
from ingot.web.issues.group_place import GroupPlace, group_place_of
from ingot.web.pages import Page, Visit
from ingot.web.projects.place import Place

Ground = Place | GroupPlace


def group_settings_of(visit: Visit) -> GroupPlace:
    """The group, for those who own it; nobody else learns that it has settings."""
    place = group_place_of(visit)
    if not place.may("PUT", ""):
        raise NotFound("Page")
    return place


def ground_page(
    ground: Ground, template: str, section: str, context: dict[str, Any], status: int = 200, tab: str = "settings"
) -> Page:
    """A page beside the menu of settings, or in the plain frame for those who may not change them."""
    project = isinstance(ground, Place)
    if tab == "settings":
        frame = "projects/settings.html" if project else "groups/settings.html"
    else:
        frame = "project.html" if project else "issues/group.html"
    return ground.page(template, tab, {**context, "frame": frame, "section": section}, status)
