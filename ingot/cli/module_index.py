"""The index of modules that ``make index`` writes to ingot/core/module_index.txt."""

from collections import defaultdict
from importlib import import_module

from ingot.core.events.bus import event_name
from ingot.core.settings import Settings
from ingot.server.composition import list_subscriptions
from ingot.server.registry import ROUTE_MODULES
from ingot.web.all_pages import PAGE_MODULES
from ingot.web.page_routes import page_routes_of


def module_index() -> str:
    """Return the whole file: a line for each route and page, and for each event that has subscribers."""
    return "\n".join([*_route_lines(), *_page_lines(), *_event_lines(), ""])


def _route_lines() -> list[str]:
    return [
        f"route {endpoint.method} {endpoint.path} {module} {endpoint.slashes}".rstrip()
        for module in ROUTE_MODULES
        for endpoint in import_module(module).routes.endpoints
    ]


def _page_lines() -> list[str]:
    return [
        f"{'page-for-clients' if route.for_api_clients else 'page'} {route.method} {route.path} {module} "
        f"{route.slashes}".rstrip()
        for module in PAGE_MODULES
        for route in page_routes_of(import_module(module))
    ]


def _event_lines() -> list[str]:
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for subscriptions in list_subscriptions(Settings()):
        for event, _ in subscriptions.value.entries:
            names[event_name(event)][subscriptions.name] = None
    return [f"event {name} {' '.join(names[name])}" for name in sorted(names)]


if __name__ == "__main__":
    print(module_index(), end="")
