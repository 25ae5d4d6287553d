"""Table of routes whose modules are imported when one of their paths is first requested."""

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import Generic, Protocol, TypeVar

from ingot.core.api.router import Router


class DeclaredRoute(Protocol):
    """Declaration of an endpoint or page."""

    method: str
    path: str
    slashes: str


D = TypeVar("D", bound=DeclaredRoute)


class IndexedRoute(Generic[D]):
    """Route that is known before the module that declares it is imported."""

    __slots__ = ("declaration", "method", "module", "path", "slashes")

    def __init__(self, method: str, path: str, module: str, slashes: str = "") -> None:
        self.method = method
        self.path = path
        self.module = module
        self.slashes = slashes
        self.declaration: D | None = None
        """None until the module is imported."""


class RouteTable(Generic[D]):
    """Router of indexed routes; the declarations of a module become available together, when it is imported."""

    def __init__(
        self, routes: Iterable[IndexedRoute[D]], declared_in: Callable[[ModuleType], Iterable[D]] = lambda _: ()
    ) -> None:
        self._declared_in = declared_in
        self._router = Router(routes, attrgetter("slashes"))
        self._by_path = {(route.method, route.path): route for route in self._router.declared}
        self._routes: dict[str, dict[tuple[str, str], IndexedRoute[D]]] = {}
        for route in self._router.declared:
            self._routes.setdefault(route.module, {})[route.method, route.path] = route

    def match(self, method: str, path: bytes) -> tuple[IndexedRoute[D], dict[str, str]]:
        """Return the matching route and its decoded path parameters; raise ``NoRoute`` or ``WrongMethod``."""
        return self._router.match(method, path)

    def load(self, route: IndexedRoute[D]) -> D:
        """Return the declaration of a route; import its module if necessary."""
        if route.declaration is None:
            self._load_module(route.module)
        assert route.declaration is not None  # noqa: S101 - Otherwise an exception was raised.
        return route.declaration

    def declared_as(self, method: str, path: str) -> D:
        """Return the declaration of a path such as ``/projects/:id``; raise LookupError if there is none."""
        return self.load(self._by_path[method, path])

    def declared_by(self, module: str) -> Sequence[D]:
        """Return the declarations of a module."""
        return [self.load(route) for route in self._routes[module].values()]

    def imported_modules(self) -> set[str]:
        """Return the names of the modules that have been imported."""
        return {name for name in self._routes if not name or name in sys.modules}

    @property
    def declarations(self) -> Sequence[D]:
        """All declarations, for which all modules are imported."""
        return [self.load(route) for route in self._router.declared]

    def _load_module(self, name: str) -> None:
        declared = {(each.method, each.path): each for each in self._declared_in(import_module(name))}
        routes = self._routes[name]
        if declared.keys() != routes.keys():
            raise RuntimeError(f"The routes of {name} differ from ingot/core/module_index.txt: run `make index`")
        for key, declaration in declared.items():
            routes[key].declaration = declaration


def imported_table(declarations: Iterable[D]) -> RouteTable[D]:
    """Return a table of declarations whose modules have been imported."""
    routes: list[IndexedRoute[D]] = []
    for declaration in declarations:
        route: IndexedRoute[D] = IndexedRoute(declaration.method, declaration.path, "", declaration.slashes)
        route.declaration = declaration
        routes.append(route)
    return RouteTable(routes)
