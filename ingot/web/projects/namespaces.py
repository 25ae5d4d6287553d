"""Where projects and groups can lie, as forms offer it: as a list, or by a search where that would be too long."""

from typing import Any, Generic, NamedTuple, TypeVar

from ingot.db.connection import Connection
from ingot.db.paging import Listing
from ingot.errors import Invalid, NotFound
from ingot.groups.namespaces.views import NamespaceView
from ingot.groups.views import GroupView
from ingot.users.accounts.queries import placeholder_user
from ingot.web.pages import Page, Pages, Reply, Visit, form_part, text_of

pages = Pages()
T = TypeVar("T")
_FIELDS = (("project", "namespace"), ("transfer", "namespace"), ("group", "parent"), ("transfer", "parent"))
MOST = 100
_AT_ONCE = 10
"""So many are named while one types, or where what was typed could mean several."""


class Offered(NamedTuple, Generic[T]):
    """What a form can offer."""

    items: list[T]
    more: bool
    """Whether there are others, so that the form lets people type."""


def offered_namespaces(visit: Visit, search: str = "", most: int | None = None) -> Offered[NamespaceView]:
    """Those that the visitor sees; administrators see all, and nothing can lie in the placeholder's."""
    most = most or MOST
    found = visit.get("/namespaces", {"per_page": most, "search": search})
    more = _goes_on(found, most)
    if not visit.signed_in.admin:
        return Offered(found.items, more)
    never = visit.database.read(placeholder_user).username
    return Offered([one for one in found.items if one.kind != "user" or one.path != never], more)


def offered_groups(visit: Visit) -> Offered[GroupView]:
    """Those in which the visitor may put others."""
    found = visit.get("/groups", {"owned": "true", "per_page": MOST})
    return Offered(found.items, _goes_on(found, MOST))


def _goes_on(found: Listing[Any], most: int) -> bool:
    return bool(found.more) or (found.total or 0) > most


def path_of_namespace(visit: Visit, number: str) -> str:
    """Where the one with this number lies; nowhere, if the visitor does not see it."""
    try:
        return str(visit.get("/namespaces/:id", id=number).full_path) if number else ""
    except NotFound:
        return ""


def typed_namespace(visit: Visit, text: str) -> NamespaceView:
    """The one whose path somebody typed; a part of one is answered with what it could be."""
    text = text.strip().strip("/")
    near = offered_namespaces(visit, text, _AT_ONCE) if text else Offered([], False)
    for one in near.items:
        if one.full_path.lower() == text.lower():
            return one
    if text and not text.isdecimal():  # A number would be taken for another's.
        try:
            found: NamespaceView = visit.get("/namespaces/:id", id=text)
        except NotFound:
            pass
        else:
            return found
    if not near.items:
        raise Invalid(namespace=["was not found"])
    raise Invalid(namespace=[f"could be {', '.join(one.full_path for one in near.items)}{' or another' * near.more}"])


@pages.get("/-/namespaces")
def find_namespaces(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Namespaces by a part of their path, to choose from while one types."""
    asked = [text_of(visit.query, "namespace"), *(form_part(visit.query, *field) for field in _FIELDS)]
    found = offered_namespaces(visit, next(filter(None, asked), ""), _AT_ONCE)
    return Page("projects/_namespaces.html", {"namespaces": found.items})
