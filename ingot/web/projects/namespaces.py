"""Where projects and groups can lie, as forms offer it: as a list, or by a search where that would be too long."""

from typing import Any, Generic, NamedTuple, TypeVar

from ingot.accounts.users.views import placeholder_username
from ingot.core.db.paging import Listing
from ingot.errors import Invalid, NotFound
from ingot.projects.groups import api as groups_api
from ingot.projects.groups.views import GroupView
from ingot.projects.namespaces import api as namespaces_api
from ingot.projects.namespaces.views import NamespaceView
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, form_field, text_field

pages = PageRoutes()
T = TypeVar("T")
_FIELDS = (("project", "namespace"), ("transfer", "namespace"), ("group", "parent"), ("transfer", "parent"))
MAX_OFFERED = 100
_MAX_RESULTS = 10
"""So many are named while one types, or where what was typed could mean several."""


class NamespaceOptions(NamedTuple, Generic[T]):
    """What a form can offer."""

    items: list[T]
    more: bool
    """Whether there are others, so that the form lets people type."""


def namespace_options(visit: Visit, search: str = "", limit: int | None = None) -> NamespaceOptions[NamespaceView]:
    """Those that the visitor sees; administrators see all, and nothing can lie in the placeholder's."""
    limit = limit or MAX_OFFERED
    found = visit.ask(namespaces_api.list_namespaces, {"per_page": limit, "search": search})
    more = _has_more(found, limit)
    if not visit.viewer.signed_in.admin:
        return NamespaceOptions(found.items, more)
    never = visit.database.read(placeholder_username)
    return NamespaceOptions([one for one in found.items if one.kind != "user" or one.path != never], more)


def group_options(visit: Visit) -> NamespaceOptions[GroupView]:
    """Those in which the visitor may put others."""
    found = visit.ask(groups_api.list_groups, {"owned": "true", "per_page": MAX_OFFERED})
    return NamespaceOptions(found.items, _has_more(found, MAX_OFFERED))


def _has_more(found: Listing[Any], limit: int) -> bool:
    return bool(found.more) or (found.total or 0) > limit


def namespace_path(visit: Visit, number: str) -> str:
    """Where the one with this number lies; nowhere, if the visitor does not see it."""
    try:
        return str(visit.ask(namespaces_api.get_namespace, id=number).full_path) if number else ""
    except NotFound:
        return ""


def find_typed_namespace(visit: Visit, text: str) -> NamespaceView:
    """The one whose path somebody typed; a part of one is answered with what it could be."""
    text = text.strip().strip("/")
    near = namespace_options(visit, text, _MAX_RESULTS) if text else NamespaceOptions([], False)
    for one in near.items:
        if one.full_path.lower() == text.lower():
            return one
    if text and not text.isdecimal():  # A number would be taken for another's.
        try:
            found: NamespaceView = visit.ask(namespaces_api.get_namespace, id=text)
        except NotFound:
            pass
        else:
            return found
    if not near.items:
        raise Invalid(namespace=["was not found"])
    raise Invalid(namespace=[f"could be {', '.join(one.full_path for one in near.items)}{' or another' * near.more}"])


@pages.get("/-/namespaces")
def find_namespaces(visit: Visit) -> PageResponse:
    """Namespaces by a part of their path, to choose from while one types."""
    asked = [
        text_field(visit.request.query, "namespace"),
        *(form_field(visit.request.query, *field) for field in _FIELDS),
    ]
    found = namespace_options(visit, next(filter(None, asked), ""), _MAX_RESULTS)
    return TemplateResponse("projects/_namespaces.html", {"namespaces": found.items})
