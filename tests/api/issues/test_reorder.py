"""Manual order of issues."""

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Project, make_project


@pytest.fixture
def owner(make: Make) -> User:
    """Return the owner of the issues."""
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    """Return a public project with five issues."""
    made = make_project(make, owner, visibility="public")
    for title in "abcde":
        make.api.post(f"/projects/{made.id}/issues", owner, title=title)
    return made


def _issues(api: Api, owner: User, project: Project) -> dict[str, dict[str, int]]:
    found = api.get(f"/projects/{project.id}/issues", owner).json()
    return {issue["title"]: issue for issue in found}


def _order(api: Api, caller: User, project: Project) -> str:
    found = api.get(f"/projects/{project.id}/issues", caller, order_by="relative_position", sort="asc").json()
    return "".join(issue["title"] for issue in found)


MOVES = [
    ("e", "a", "b", "aebcd"),
    ("a", "e", None, "bcdea"),
    ("e", None, "a", "eabcd"),
    ("a", "b", None, "bacde"),
    ("d", None, "b", "adbce"),
    ("b", "d", "e", "acdbe"),
    ("b", "e", "d", "acdbe"),  # With the neighbours swapped, the position is the same.
]


@pytest.mark.parametrize(("moved", "before", "after", "order"), MOVES)
def test_an_issue_moves_between_the_given_neighbours(
    api: Api, owner: User, project: Project, moved: str, before: str | None, after: str | None, order: str
) -> None:
    assert _order(api, owner, project) == "abcde"
    issues = _issues(api, owner, project)
    sent = {
        "move_before_id": issues[before]["id"] if before else None,
        "move_after_id": issues[after]["id"] if after else None,
    }
    answer = api.put(f"/projects/{project.id}/issues/{issues[moved]['iid']}/reorder", owner, **sent)
    assert answer.status_code == 200, answer.text
    assert answer.json()["title"] == moved
    assert _order(api, owner, project) == order
    api.post(f"/projects/{project.id}/issues", owner, title="f")
    assert _order(api, owner, project) == order + "f"


def test_repeated_moves_into_one_gap(api: Api, owner: User, project: Project) -> None:
    """Positions are redistributed when a gap is exhausted."""
    issues = _issues(api, owner, project)
    order = list("abcde")
    for turn in range(60):
        moved = "de"[turn % 2]
        api.put(
            f"/projects/{project.id}/issues/{issues[moved]['iid']}/reorder", owner, move_before_id=issues["a"]["id"]
        )
        order.remove(moved)
        order.insert(1, moved)
        assert _order(api, owner, project) == "".join(order)
    api.post(f"/projects/{project.id}/issues", owner, title="f")
    assert _order(api, owner, project) == "".join(order) + "f"


def test_neighbours_must_be_visible_issues_of_the_project(api: Api, make: Make, owner: User, project: Project) -> None:
    """Attack: a confidential issue, or one of another project, as a neighbour."""
    author = make.user()
    mine = api.post(f"/projects/{project.id}/issues", author, title="mine").json()
    secret = api.post(f"/projects/{project.id}/issues", owner, title="secret", confidential=True).json()
    other = api.post(f"/projects/{make_project(make, author).id}/issues", author, title="other").json()
    path = f"/projects/{project.id}/issues/{mine['iid']}/reorder"
    for number in (secret["id"], other["id"], mine["id"], 2**62, -1, "x"):
        for name in ("move_after_id", "move_before_id"):
            answer = api.put(path, author, **{name: number})
            assert (answer.status_code, answer.json()) == (400, {"message": {name: ["is invalid"]}})
    assert api.put(path, author).status_code == 400
    assert api.put(path, owner, move_after_id=secret["id"]).status_code == 200


def test_permissions(api: Api, make: Make, owner: User, project: Project) -> None:
    issues = _issues(api, owner, project)
    path, sent = f"/projects/{project.id}/issues/{issues['a']['iid']}/reorder", {"move_after_id": issues["e"]["id"]}
    guest, reporter = make.user(), make.user()
    for person, level in ((guest, Level.GUEST), (reporter, Level.REPORTER)):
        member = {"user_id": person.id, "access_level": int(level)}
        api.post(f"/projects/{project.id}/members", owner, **member)
    assert api.put(path, None, **sent).status_code == 401
    assert api.put(path, make.user(), **sent).status_code == 403
    assert api.put(path, guest, **sent).status_code == 403
    assert api.put(path, reporter, **sent).status_code == 200
    api.post(f"/projects/{project.id}/archive", owner)
    assert api.put(path, owner, **sent).status_code == 403
