"""Namespace fields of forms: a list of options, or a search if there are too many."""

from typing import Any, Generic, NamedTuple, TypeVar

from ingot.accounts.users.views import placeholder_username
from ingot.core.db.paging import Listing
from ingot.core.errors import Invalid, NotFound
from ingot.projects.groups import api as groups_api
from ingot.projects.groups.views import GroupView
from ingot.projects.namespaces import api as namespaces_api
from ingot.projects.namespaces.views import NamespaceView
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, form_field, text_field

pages = PageRoutes()
T = TypeVar("T")
_FIELDS = (("project", "namespace"), ("transfer", "namespace"), ("group", "parent"), ("transfer", "parent"))
MAX_OPTIONS = 100
_MAX_RESULTS = 10
"""Number of suggestions in autocompletion and in the error for an ambiguous path."""


class NamespaceOptions(NamedTuple, Generic[T]):
    """Options of a namespace field."""

    items: list[T]
    more: bool
    """True if there are more options, so that the form shows a search field."""


def namespace_options(visit: Visit, search: str = "", limit: int | None = None) -> NamespaceOptions[NamespaceView]:
    """Return the namespaces available to the user, that of the user first.

    Administrators get all except that of the placeholder user.
    """
    limit = limit or MAX_OPTIONS
    namespaces = visit.ask(namespaces_api.list_namespaces, {"per_page": limit, "search": search})
    more = _has_more(namespaces, limit)
    viewer = visit.viewer.signed_in
    if not viewer.admin:
        return NamespaceOptions(namespaces.items, more)
    placeholder = visit.database.read(placeholder_username)
    items = [each for each in namespaces.items if each.kind != "user" or each.path != placeholder]
    return NamespaceOptions(sorted(items, key=lambda each: each.full_path != viewer.username), more)


def group_options(visit: Visit) -> NamespaceOptions[GroupView]:
    """Return the groups in which the user can create subgroups."""
    groups = visit.ask(groups_api.list_groups, {"owned": "true", "per_page": MAX_OPTIONS})
    return NamespaceOptions(groups.items, _has_more(groups, MAX_OPTIONS))


def _has_more(listing: Listing[Any], limit: int) -> bool:
    return bool(listing.more) or (listing.total or 0) > limit


def namespace_path(visit: Visit, number: str) -> str:
    """Return the path of the namespace with this id; empty if the user has no permission to see it."""
    try:
        return str(visit.ask(namespaces_api.get_namespace, id=number).full_path) if number else ""
    except NotFound:
        return ""


def find_typed_namespace(visit: Visit, text: str) -> NamespaceView:
    """Return the namespace whose path was typed; raise ``Invalid`` with suggestions if only a part matches."""
    text = text.strip().strip("/")
    options = namespace_options(visit, text, _MAX_RESULTS) if text else NamespaceOptions([], False)
    for option in options.items:
        if option.full_path.lower() == text.lower():
            return option
    if text and not text.isdecimal():  # A number would be taken for an id.
        try:
            namespace: NamespaceView = visit.ask(namespaces_api.get_namespace, id=text)
        except NotFound:
            pass
        else:
            return namespace
    if not options.items:
        raise Invalid(namespace=["was not found"])
    raise Invalid(
        namespace=[f"could be {', '.join(option.full_path for option in options.items)}{' or another' * options.more}"]
    )


@pages.get("/-/namespaces")
def find_namespaces(visit: Visit) -> PageResponse:
    """Search namespaces by part of their path, for autocompletion."""
    searches = [
        text_field(visit.request.query, "namespace"),
        *(form_field(visit.request.query, *field) for field in _FIELDS),
    ]
    options = namespace_options(visit, next(filter(None, searches), ""), _MAX_RESULTS)
    return TemplateResponse("projects/_namespaces.html", {"namespaces": options.items})
