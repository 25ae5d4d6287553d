"""Where projects can lie, as forms offer it."""

from ingot.groups.namespaces.views import NamespaceView
from ingot.users.accounts.queries import placeholder_user
from ingot.web.pages import Visit


def offered_namespaces(visit: Visit) -> list[NamespaceView]:
    """Those that the visitor sees; administrators see all, and nothing can lie in the placeholder's."""
    found: list[NamespaceView] = visit.get("/namespaces", {"per_page": 100}).items
    if not visit.signed_in.admin:
        return found
    never = visit.database.read(placeholder_user).username
    return [namespace for namespace in found if namespace.kind != "user" or namespace.path != never]
