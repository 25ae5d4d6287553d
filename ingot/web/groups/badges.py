"""Badges of projects and groups."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.web.groups.place import Ground, ground_page, group_settings_of
from ingot.web.pages import Page, Pages, Reply, Visit
from ingot.web.projects.forms import Forms, filled, texts_of, tried
from ingot.web.projects.settings import settings_of

pages = Pages()


def _declare(prefix: str, ground_of: Callable[[Visit], Ground]) -> None:
    """The pages of one kind of place."""
    pages.get(prefix)(lambda visit, db: _page(ground_of(visit), Forms()))  # noqa: ARG005 - Every page to read gets a connection.
    pages.post(prefix)(lambda visit: _add(ground_of(visit)))
    pages.delete(f"{prefix}/:badge")(lambda visit: _remove(ground_of(visit)))


def _add(ground: Ground) -> Reply:
    typed = texts_of(ground.visit, "badge", ("name", "link_url", "image_url"))
    return _tried(ground, "badge", typed, partial(ground.call, "POST", "/badges", filled(typed)))


def _remove(ground: Ground) -> Reply:
    act = partial(ground.call, "DELETE", "/badges/:badge_id", badge_id=ground.visit.path["badge"])
    return _tried(ground, "badges", {}, act)


def _tried(ground: Ground, form: str, typed: dict[str, Any], act: Callable[[], object]) -> Reply:
    return tried(form, typed, act, partial(_page, ground), f"{ground.url}/-/settings/badges")


def _page(ground: Ground, forms: Forms) -> Page:
    context = {
        "forms": forms,
        "badges": ground.get("/badges", {"per_page": 100}).items,
        "may_change": ground.may("POST", "/badges"),
    }
    return ground_page(ground, "groups/badges.html", "settings/badges", context, forms.status)


_declare("/:path/-/settings/badges", settings_of)
_declare("/groups/:path/-/settings/badges", group_settings_of)
