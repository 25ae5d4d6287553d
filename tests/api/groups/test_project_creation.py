"""The project creation level of groups."""

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import make_group, make_project

LEVELS = {"developer": Level.DEVELOPER, "master": Level.MASTER, "owner": Level.OWNER}
CALLERS = [
    (None, {"developer", "master", "owner"}),
    ("developer", {"developer", "master", "owner"}),
    ("maintainer", {"master", "owner"}),
    ("owner", {"owner"}),
    ("noone", set()),
    ("administrator", set()),
]


@pytest.mark.parametrize(("said", "makers"), CALLERS)
def test_the_project_creation_level_applies(api: Api, make: Make, said: str | None, makers: set[str]) -> None:
    """To new projects, forks and transfers; administrators are exempt."""
    people = {name: make.user() for name in LEVELS}
    group = make_group(make, members={people[name]: level for name, level in LEVELS.items()})
    source = make_project(make, visibility="public")
    if said is not None:
        assert api.put(group.url, people["owner"], project_creation_level=said).status_code == 200
    assert api.get(group.url, people["developer"]).json()["project_creation_level"] == (said or "developer")

    for name, person in people.items():
        made = api.post("/projects", person, name=make.name("made"), namespace_id=group.id)
        fork = api.post(f"{source.url}/fork", person, namespace_id=group.id, path=make.name("f"), name=make.name("f"))
        own = make_project(make, person)
        moved = api.put(f"{own.url}/transfer", person, namespace=group.id)
        allowed = name in makers
        assert [made.status_code, fork.status_code, moved.status_code] == (
            [201, 201, 200] if allowed else [400, 404, 404]
        ), name
    assert api.post("/projects", make.root, name=make.name("made"), namespace_id=group.id).status_code == 201


def test_the_level_can_be_set_on_creation(api: Api, make: Make) -> None:
    path = make.name("strict")
    made = api.post("/groups", make.root, name=path, path=path, project_creation_level="owner").json()
    assert made["project_creation_level"] == "owner"
    below = api.post("/groups", make.root, name="below", path="below", parent_id=made["id"]).json()
    assert below["project_creation_level"] == "developer"


@pytest.mark.parametrize("value", ["master", "40", ["owner"], {"a": 1}])
def test_other_values_are_rejected(api: Api, make: Make, value: object) -> None:
    group = make_group(make)
    refused = api.put(group.url, make.root, project_creation_level=value)
    assert (refused.status_code, refused.json()) == (400, {"message": {"project_creation_level": ["is invalid"]}})
