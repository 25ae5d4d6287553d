"""Badges of projects and groups."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.projects.badges import api as badges_api
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.forms import FormsState, form_values, nonempty_values, submit_form
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()


def _declare_pages(prefix: str, find_parent: Callable[[Visit], ProjectOrGroupContext]) -> None:
    """Declare the badge pages of projects or of groups."""
    pages.get(prefix)(lambda visit: _badges_page(find_parent(visit), FormsState()))
    pages.post(prefix, notice="Badge added.")(lambda visit: _add(find_parent(visit)))
    pages.delete(f"{prefix}/:badge", notice="Badge removed.")(lambda visit: _remove(find_parent(visit)))


def _add(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "badge", ("name", "link_url", "image_url"))
    return _submit(parent, "badge", typed, partial(parent.ask, badges_api.create_badge, nonempty_values(typed)))


def _remove(parent: ProjectOrGroupContext) -> PageResponse:
    act = partial(parent.ask, badges_api.delete_badge, badge_id=parent.visit.request.path["badge"])
    return _submit(parent, "badges", {}, act)


def _submit(parent: ProjectOrGroupContext, form: str, typed: dict[str, Any], act: Callable[[], object]) -> PageResponse:
    return submit_form(form, typed, act, partial(_badges_page, parent), f"{parent.url}/-/settings/badges")


def _badges_page(parent: ProjectOrGroupContext, forms: FormsState) -> TemplateResponse:
    context = {
        "forms": forms,
        "badges": parent.ask(badges_api.list_badges, {"per_page": 100}).items,
        "may_change": parent.may(badges_api.create_badge),
    }
    return settings_page(parent, "groups/badges.html", "settings/badges", context, forms.status)


_declare_pages("/:path/-/settings/badges", find_project_settings)
_declare_pages("/groups/:path/-/settings/badges", find_group_settings)
