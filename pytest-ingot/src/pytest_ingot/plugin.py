"""Plugin for pytest, which starts a server when a test first uses one of its fixtures: one per process of xdist.

``ingot_isolation`` in the configuration of pytest chooses how tests are isolated: ``reset`` (the default) empties the
instance before each test that uses it; ``namespace`` keeps everything, and each test gets its own users and groups.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gitlab import Gitlab

    from pytest_ingot.records import SeededUser
    from pytest_ingot.server import Server

_ISOLATION = "ingot_isolation"
_LOCATION = "ingot_server"
_numbers = count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the configuration file."""
    parser.addini(_ISOLATION, "isolation of tests that use the Ingot server: reset or namespace", default="reset")
    parser.addini("ingot_arguments", "further arguments of ingot serve", type="args", default=[])
    where = "where the Ingot server is: here, the path of a program or environment, image:NAME, or a URL"
    parser.addini(_LOCATION, where, default="")
    parser.getgroup("ingot").addoption("--ingot-server", metavar="WHERE", default=None, help=where)


@dataclass(frozen=True)
class IngotProject:
    """A project that exists for one test, with a README on its default branch."""

    id: int
    path: str
    default_branch: str
    url: str
    git_url: str = field(repr=False)
    """Address for git over HTTP, with a token."""


class IngotInstance:
    """The server as tests see it."""

    def __init__(self, server: "Server") -> None:
        self.server = server
        """The server, with its control functions."""
        self.url = server.url
        self.api_url = server.api_url
        self.token = server.token

    @property
    def gitlab(self) -> "Gitlab":
        """A client of python-gitlab for root."""
        return self.server.gitlab()

    def create_user(self, username: str = "", **attributes: Any) -> "SeededUser":
        """Create a user with a token."""
        username = username or f"user-{next(_numbers)}"
        (user,) = self.server.seed({"users": [{"username": username, **attributes}]}).users
        return user

    def create_project(self, path: str = "", **description: Any) -> IngotProject:
        """Create a project from a description of the seed, by default with a README and of a new group."""
        if not path:
            group = f"group-{next(_numbers)}"
            self.server.seed({"groups": [{"path": group}]})
            path = f"{group}/project"
        description.setdefault("files", {"README.md": f"# {path}\n"})
        (project,) = self.server.seed({"projects": [{"path": path, **description}]}).projects
        scheme, _, address = self.url.partition("://")
        full_path = project.path_with_namespace
        return IngotProject(
            project.id,
            full_path,
            project.default_branch,
            f"{self.url}/{full_path}",
            f"{scheme}://root:{self.token}@{address}/{full_path}.git",
        )


@pytest.fixture(scope="session")
def ingot_server(pytestconfig: pytest.Config) -> Iterator["Server"]:
    """Run one server for all tests of this process."""
    from pytest_ingot.server import Server

    isolation = pytestconfig.getini(_ISOLATION)
    if isolation not in ("reset", "namespace"):
        raise pytest.UsageError(f"{_ISOLATION} must be reset or namespace, not {isolation}")
    chosen = pytestconfig.getoption(_LOCATION)
    location = pytestconfig.getini(_LOCATION) if chosen is None else chosen
    with Server(location, arguments=pytestconfig.getini("ingot_arguments")) as server:
        yield server


@pytest.fixture
def ingot(ingot_server: "Server", pytestconfig: pytest.Config) -> IngotInstance:
    """Return the server, empty unless the isolation is ``namespace``."""
    if pytestconfig.getini(_ISOLATION) == "reset":
        ingot_server.reset()
    return IngotInstance(ingot_server)


@pytest.fixture
def ingot_user(ingot: IngotInstance) -> "SeededUser":
    """Return a new user."""
    return ingot.create_user()


@pytest.fixture
def ingot_project(ingot: IngotInstance) -> IngotProject:
    """Return a new project in a group of its own."""
    return ingot.create_project()
