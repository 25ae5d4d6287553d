"""Makes projects, groups and members for tests, through the API."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from ingot.accounts.instance import limits
from ingot.core.access.levels import Level
from ingot.core.db.times import Timestamp
from tests.client import Make, Person
from tests.statements import cold_reads, executed

if TYPE_CHECKING:  # What it names here is built out of this.
    from tests.conftest import Instance

Members = Mapping[Person, int]
MOST_TRIES = 12


@dataclass(frozen=True)
class Group:
    """A group that a test made."""

    id: int
    path: str
    name: str

    @property
    def url(self) -> str:
        """Where the API has it."""
        return f"/groups/{self.id}"


@dataclass(frozen=True)
class Project:
    """A project that a test made."""

    id: int
    path: str
    name: str
    namespace_id: int

    @property
    def url(self) -> str:
        """Where the API has it."""
        return f"/projects/{self.id}"

    @property
    def url_by_path(self) -> str:
        """The same by its full path."""
        return by_path("projects", self.path)


def by_path(kind: str, full_path: str) -> str:
    """Where the API has what lies at this full path."""
    return f"/{kind}/{quote(full_path, safe='')}"


def make_group(
    make: Make,
    owner: Person | None = None,
    *,
    parent: Group | None = None,
    members: Members | None = None,
    **attributes: Any,
) -> Group:
    """A group; root owns it where nobody else is named."""
    owner = owner or make.root
    path = attributes.pop("path", None) or make.name("group")
    sent = {"name": path, "path": path, "parent_id": parent.id if parent else None, **attributes}
    made = make.api.post("/groups", owner, **sent)
    assert made.status_code == 201, made.text
    group = Group(made.json()["id"], made.json()["full_path"], made.json()["name"])
    add_members(make, group, members or {})
    return group


def make_project(
    make: Make,
    owner: Person | None = None,
    *,
    group: Group | None = None,
    members: Members | None = None,
    **attributes: Any,
) -> Project:
    """A project in the owner's own namespace, or in a group; root makes it where nobody is named."""
    name = attributes.pop("name", None) or make.name("project")
    if group is not None:
        attributes["namespace_id"] = group.id
    made = make.api.post("/projects", owner or make.root, name=name, **attributes)
    assert made.status_code == 201, made.text
    shown = made.json()
    project = Project(shown["id"], shown["path_with_namespace"], shown["name"], shown["namespace"]["id"])
    add_members(make, project, members or {})
    return project


def add_members(make: Make, to: Group | Project, members: Members, **attributes: Any) -> None:
    """Let people belong; whoever is named at no level stays outside."""
    for person, level in members.items():
        if level > Level.NONE:
            sent = {"user_id": person.id, "access_level": int(level), **attributes}
            added = make.api.post(f"{to.url}/members", make.root, **sent)
            assert added.status_code == 201, added.text


def share(make: Make, shared_one: Project | Group, group: Group, level: int, **attributes: Any) -> None:
    """Let the members of a group use a project, or another group with all in it."""
    sent = {"group_id": group.id, "group_access": int(level), **attributes}
    shared = make.api.post(f"{shared_one.url}/share", make.root, **sent)
    assert shared.status_code == 201, shared.text


def ids(answer: httpx.Response) -> list[int]:
    """The ids of a list, in its order."""
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()]


@contextmanager
def day(instance: "Instance", date: str) -> Iterator[None]:
    """Let the server believe that it is noon of this day."""
    clock = instance.app.database.clock
    instance.app.database.clock = lambda: Timestamp(f"{date}T12:00:00.000Z")
    try:
        yield
    finally:
        instance.app.database.clock = clock


def statements_of(make: Make, call: Callable[[], httpx.Response]) -> int:
    """Return how many statements a call takes with an empty read cache; the fewest of some tries.

    Noting a token's use may fall into one of them.
    """
    costs: list[int] = []
    look_again, limits.RELOAD_SECONDS = limits.RELOAD_SECONDS, float("inf")
    try:
        with cold_reads(make.database):
            while len(costs) < MOST_TRIES and costs.count(min(costs, default=0)) < 3:
                before = executed(make.database)
                answer = call()
                assert answer.status_code in (200, 201), answer.text
                costs.append(executed(make.database) - before)
    finally:
        limits.RELOAD_SECONDS = look_again
    return min(costs)
