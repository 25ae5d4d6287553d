"""Projects, groups and members created through the API."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from ingot.accounts.instance import limits
from ingot.core.access.levels import Level
from ingot.core.db.times import Timestamp, add_duration
from tests.client import Make, User
from tests.statements import cold_reads, executed, refreshes

if TYPE_CHECKING:  # The types named here are built from this.
    from tests.conftest import Instance

Members = Mapping[User, int]
MAX_TRIES = 12


@dataclass(frozen=True)
class Group:
    """Group created by a test."""

    id: int
    path: str
    name: str

    @property
    def url(self) -> str:
        """Return the API path."""
        return f"/groups/{self.id}"


@dataclass(frozen=True)
class Project:
    """Project created by a test."""

    id: int
    path: str
    name: str
    namespace_id: int

    @property
    def url(self) -> str:
        """Return the API path."""
        return f"/projects/{self.id}"

    @property
    def url_by_path(self) -> str:
        """Return the API path by full path."""
        return by_path("projects", self.path)


def by_path(kind: str, full_path: str) -> str:
    """Return the API path of the object with this full path."""
    return f"/{kind}/{quote(full_path, safe='')}"


def make_group(
    make: Make,
    owner: User | None = None,
    *,
    parent: Group | None = None,
    members: Members | None = None,
    **attributes: Any,
) -> Group:
    """Create a group, owned by root by default."""
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
    owner: User | None = None,
    *,
    group: Group | None = None,
    members: Members | None = None,
    **attributes: Any,
) -> Project:
    """Create a project in the owner's namespace or in a group, as root by default."""
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
    """Add users as members; users without a level are skipped."""
    for person, level in members.items():
        if level > Level.NONE:
            sent = {"user_id": person.id, "access_level": int(level), **attributes}
            added = make.api.post(f"{to.url}/members", make.root, **sent)
            assert added.status_code == 201, added.text


def share(make: Make, shared_one: Project | Group, group: Group, level: int, **attributes: Any) -> None:
    """Share a project or a group with another group."""
    sent = {"group_id": group.id, "group_access": int(level), **attributes}
    shared = make.api.post(f"{shared_one.url}/share", make.root, **sent)
    assert shared.status_code == 201, shared.text


def ids(answer: httpx.Response) -> list[int]:
    """Return the ids of a list in order."""
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()]


@contextmanager
def day(instance: "Instance", date: str) -> Iterator[None]:
    """Set the server's clock to noon of this day."""
    clock = instance.app.database.clock
    instance.app.database.clock = lambda: Timestamp(f"{date}T12:00:00.000Z")
    try:
        yield
    finally:
        instance.app.database.clock = clock


@contextmanager
def stopped_clock(instance: "Instance") -> Iterator[None]:
    """Stop the server's clock, so that no job becomes due."""
    clock = instance.app.database.clock
    now = clock()
    instance.app.database.clock = lambda: now
    try:
        yield
    finally:
        instance.app.database.clock = clock


@contextmanager
def later(instance: "Instance", **duration: int) -> Iterator[None]:
    """Set the server's clock ahead."""
    clock = instance.app.database.clock
    instance.app.database.clock = lambda: add_duration(clock(), **duration)
    try:
        yield
    finally:
        instance.app.database.clock = clock


@contextmanager
def changed_settings(make: Make, **settings: Any) -> Iterator[None]:
    """Change instance settings for the time of a with statement."""
    path = "/application/settings"
    before = make.api.get(path, make.root).json()
    changed = make.api.put(path, make.root, **settings)
    assert changed.status_code == 200, changed.text
    try:
        yield
    finally:
        restored = make.api.put(path, make.root, **{name: before[name] for name in settings})
        assert restored.status_code == 200, restored.text


def statements_of(make: Make, call: Callable[[], httpx.Response]) -> int:
    """Return the statement count of a call with an empty read cache, as the minimum of several tries.

    Recording the use of a token may add one to some of them.
    """
    with cold_reads():
        return _least_statements(make, call, lambda: None)


def statements_beside_writes(make: Make, call: Callable[[], httpx.Response], write: Callable[[], object]) -> int:
    """Return the statement count of a call after a commit, with the queries of the read cache for changes."""
    return _least_statements(make, call, write)


def _least_statements(make: Make, call: Callable[[], httpx.Response], prepare: Callable[[], object]) -> int:
    costs: list[int] = []
    look_again, limits.RELOAD_SECONDS = limits.RELOAD_SECONDS, float("inf")
    try:
        while len(costs) < MAX_TRIES and costs.count(min(costs, default=0)) < 3:
            prepare()
            before = executed(make.database) + refreshes(make.database)
            answer = call()
            assert answer.status_code in (200, 201), answer.text
            costs.append(executed(make.database) + refreshes(make.database) - before)
    finally:
        limits.RELOAD_SECONDS = look_again
    return min(costs)
