"""Branches: listed, read, protected, made and deleted, and who may."""

import httpx
import pytest

from tests.client import Api, Make
from tests.conftest import House
from tests.histories import History
from tests.making import Project, make_project


@pytest.fixture
def project(house: House, make: Make) -> Project:
    """A public project with some branches, one of them merged."""
    project = make_project(make, visibility="public")
    history = History()
    first = history.commit(files={"README.md": "hello\n"}, message="Begin")
    history.commit("feature/a.b", files={"a": "1\n"}, parents=(first,))
    second = history.commit(files={"README.md": "hello again\n"}, parents=(first,))
    history.commit("merged", files={"m": "1\n"}, parents=(second,))
    history.commit(files={"m": "1\n"}, message="Merge", parents=(second, 4))
    history.fill(house, project)
    return project


def names(answer: httpx.Response) -> list[str]:
    """The names in a list."""
    return [branch["name"] for branch in answer.json()]


def test_the_list_is_sorted_and_open(api: Api, project: Project) -> None:
    """Anybody sees the branches of a public project, by name."""
    answer = api.get(f"/projects/{project.id}/repository/branches")
    assert answer.status_code == 200
    assert names(answer) == ["feature/a.b", "master", "merged"]
    assert [branch["merged"] for branch in answer.json()] == [False, False, True]
    assert [branch["protected"] for branch in answer.json()] == [False, True, False]
    assert answer.headers["x-total"] == "3"


def test_one_branch(api: Api, make: Make, project: Project) -> None:
    """A branch shows its commit, also where its name has a slash and a dot."""
    answer = api.get(f"/projects/{project.id}/repository/branches/feature%2Fa.b", make.root).json()
    assert answer["commit"]["message"] == "Change"
    assert answer["commit"]["authored_date"].endswith("+02:00")
    assert api.get(f"/projects/{project.id}/repository/branches/nope").status_code == 404


def test_create_and_delete(api: Api, make: Make, project: Project) -> None:
    """What was made is there at once, and gone at once."""
    dev = make.user()
    api.post(f"/projects/{project.id}/members", make.root, user_id=dev.id, access_level=30)
    made = api.post(f"/projects/{project.id}/repository/branches", dev, branch="neu/ü", ref="feature/a.b")
    assert made.status_code == 201, made.text
    assert made.json()["name"] == "neu/ü"
    again = api.post(f"/projects/{project.id}/repository/branches", dev, branch="neu/ü", ref="master")
    assert (again.status_code, again.json()["message"]) == (400, "Branch already exists")
    assert "neu/ü" in names(api.get(f"/projects/{project.id}/repository/branches"))
    below = api.post(f"/projects/{project.id}/repository/branches", dev, branch="neu/ü/x", ref="master")
    assert below.status_code == 400, below.text
    for _ in range(2):
        assert api.delete(f"/projects/{project.id}/repository/branches/neu%2F%C3%BC", dev).status_code == 200
    refused = api.delete(f"/projects/{project.id}/repository/branches/master", make.root)
    assert (refused.status_code, refused.json()["message"]) == (
        400,
        "The default branch of a project cannot be deleted.",
    )
