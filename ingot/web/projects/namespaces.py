"""Where projects can lie, as forms offer it: as a list, or by a search where that would be too long."""

from typing import NamedTuple

from ingot.db.connection import Connection
from ingot.errors import Invalid, NotFound
from ingot.groups.namespaces.views import NamespaceView
from ingot.users.accounts.queries import placeholder_user
from ingot.web.pages import Page, Pages, Reply, Visit, form_part, text_of

pages = Pages()
_FORMS = ("project", "transfer")
MOST = 100
_AT_ONCE = 10
"""So many are named while one types, or where what was typed could mean several."""


class Offered(NamedTuple):
    """What a form can offer."""

    items: list[NamespaceView]
    more: bool
    """Whether there are others, so that the form lets people type."""


def offered_namespaces(visit: Visit, search: str = "", most: int | None = None) -> Offered:
    """Those that the visitor sees; administrators see all, and nothing can lie in the placeholder's."""
    most = most or MOST
    found = visit.get("/namespaces", {"per_page": most, "search": search})
    more = bool(found.more) or (found.total or 0) > most
    if not visit.signed_in.admin:
        return Offered(found.items, more)
    never = visit.database.read(placeholder_user).username
    return Offered([one for one in found.items if one.kind != "user" or one.path != never], more)


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
    asked = [text_of(visit.query, "namespace"), *(form_part(visit.query, form, "namespace") for form in _FORMS)]
    found = offered_namespaces(visit, next(filter(None, asked), ""), _AT_ONCE)
    return Page("projects/_namespaces.html", {"namespaces": found.items})
