"""Detection of stacks of merge requests."""

import pytest

from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.api.merge_requests.stacks import make_stack, open_layer
from tests.api.merging.merge_calls import url
from tests.client import Api, Make, User
from tests.factories import Project, statements_of


@pytest.fixture
def owner(make: Make) -> User:
    """Return the owner of the project."""
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    """Return a project with a first commit."""
    return filled_project(make, owner)


def _listed(api: Api, project: Project, who: User) -> dict[str, tuple[int, int, int, str] | None]:
    """Return the stacks by source branch, as the list shows them."""
    shown = api.get(f"/projects/{project.id}/merge_requests", who, per_page=100).json()
    for one in shown:
        assert api.get(url(project, one), who).json()["stack"] == one["stack"]
    return {
        one["source_branch"]: one["stack"] and tuple(one["stack"][name] for name in ("id", "position", "size", "base"))
        for one in shown
    }


def test_layers_of_a_stack(api: Api, make: Make, owner: User, project: Project) -> None:
    one, two, three = make_stack(make, project, owner, ["one", "two", "three"])
    alone = make_merge_request(make, project, owner, branch="alone")
    assert alone["stack"] is None
    assert three["stack"] == {"id": one["id"], "position": 3, "size": 3, "base": "master"}
    bottom = one["id"]
    assert _listed(api, project, owner) == {
        "one": (bottom, 1, 3, "master"),
        "two": (bottom, 2, 3, "master"),
        "three": (bottom, 3, 3, "master"),
        "alone": None,
    }
    api.put(url(project, two), owner, state_event="close")
    assert _listed(api, project, owner) == {"one": None, "two": None, "three": None, "alone": None}


def test_trees_and_cycles(api: Api, make: Make, owner: User, project: Project) -> None:
    """Branches of a tree have the same position; a cycle and a merge request from the default branch do no harm."""
    one, *_ = make_stack(make, project, owner, ["one", "two", "three"])
    commit(make, project, "side", {"side.txt": "x\n"}, owner, start="one")
    open_layer(make, project, owner, "side", "one")
    bottom = one["id"]
    tree = {
        "one": (bottom, 1, 4, "master"),
        "two": (bottom, 2, 4, "master"),
        "three": (bottom, 3, 4, "master"),
        "side": (bottom, 2, 4, "master"),
    }
    assert _listed(api, project, owner) == tree
    commit(make, project, "production", {"other.txt": "x\n"}, owner, start="master")
    commit(make, project, "master", {"more.txt": "x\n"}, owner)
    open_layer(make, project, owner, "master", "production")
    assert _listed(api, project, owner) == {**tree, "master": None}
    open_layer(make, project, owner, "one", "three")
    shown = api.get(f"/projects/{project.id}/merge_requests", owner, per_page=100)
    assert shown.status_code == 200
    answer = api.get(url(project, one, "/stack"), owner)
    assert answer.status_code == 200
    assert len(answer.json()) == 5


def test_a_cycle_of_two(api: Api, make: Make, owner: User, project: Project) -> None:
    """The oldest merge request of a cycle is the bottom."""
    for name in ("left", "right"):
        commit(make, project, name, {name: "x\n"}, owner, start="master")
    left, right = open_layer(make, project, owner, "left", "right"), open_layer(make, project, owner, "right", "left")
    assert _listed(api, project, owner) == {"left": (left["id"], 1, 2, "right"), "right": (left["id"], 2, 2, "right")}
    assert right["stack"]["position"] == 2
    # Merging everything below stops at the bottom, and a merge in a cycle retargets nothing onto itself.
    assert api.put(url(project, left, "/merge"), owner).status_code == 200
    assert api.get(url(project, right), owner).json()["target_branch"] == "left"


def test_more_than_fifty_layers(api: Api, make: Make, owner: User, project: Project) -> None:
    """The merge requests above the fiftieth layer belong to no stack."""
    names = [f"layer-{number}" for number in range(1, 53)]
    layers = make_stack(make, project, owner, names)
    shown = [api.get(url(project, layers[number - 1]), owner).json()["stack"] for number in (1, 50, 51)]
    bottom = {"id": layers[0]["id"], "size": 50, "base": "master"}
    assert shown == [{**bottom, "position": 1}, {**bottom, "position": 50}, None]


def test_statements_do_not_grow_with_the_stack(api: Api, make: Make, owner: User, project: Project) -> None:
    make_stack(make, project, owner, ["one", "two"])
    address = f"/projects/{project.id}/merge_requests"
    before = statements_of(make, lambda: api.get(address, owner))
    make_stack(make, project, owner, ["three", "four", "five", "six"], base="two")
    assert statements_of(make, lambda: api.get(address, owner)) == before


def test_stack_of_a_private_project_is_hidden(api: Api, make: Make, owner: User, project: Project) -> None:
    one, two = make_stack(make, project, owner, ["one", "two"])
    layers = api.get(url(project, two, "/stack"), owner).json()
    assert [layer["id"] for layer in layers] == [one["id"], two["id"]]
    assert [layer["stack"]["position"] for layer in layers] == [1, 2]
    assert api.get(url(project, one, "/stack"), make.user()).status_code == 404
    alone = make_merge_request(make, project, owner)
    assert api.get(url(project, alone, "/stack"), owner).json() == []
