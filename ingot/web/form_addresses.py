"""GET requests for addresses that only forms use: a rejected form leaves its address in the browser."""

from collections.abc import Callable

from ingot.core.api.route_table import RouteTable
from ingot.core.api.router import NoRoute, WrongMethod
from ingot.web.page_routes import PageRoute

_FORM_PAGES = {
    b"/users": "/users/sign_up",
    b"/profile/username": "/profile/account",
    b"/profile/reset_private_token": "/profile/account",
}
_PROJECT_HOME = "/:path"

RouterPath = Callable[[bytes], bytes]


def page_of_form(table: RouteTable[PageRoute], router_path: RouterPath, path: bytes) -> str | None:
    """Return the page with the form that is sent to an address: that of its container, or of a new object.

    ``router_path`` joins the path of a project or group to one segment, as the table expects it.
    """
    if path in _FORM_PAGES:
        return _FORM_PAGES[path]
    if _is_page(table, router_path(path + b"/new")):
        return f"{path.decode('latin-1')}/new"
    container = path.rpartition(b"/")[0]
    while container:
        if not container.endswith(b"/-") and _is_page(table, router_path(container)):
            return container.decode("latin-1")
        container = container.rpartition(b"/")[0]
    return None


def _is_page(table: RouteTable[PageRoute], path: bytes) -> bool:
    try:
        route, _ = table.match("GET", path)
    except (NoRoute, WrongMethod):
        return False
    return route.path != _PROJECT_HOME
