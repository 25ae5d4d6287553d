"""Award emoji: permissions, uniqueness, and the vote counts of an issue."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.client import Api, Make
from tests.factories import ids, make_project, statements_of
from tests.roles import UsersByRole, project_with


def test_award_and_remove_emoji(api: Api, make: Make) -> None:
    """Life cycle of an emoji on an issue and on a note."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    issue = api.post(f"/projects/{project.id}/issues", owner, title="one").json()
    given = api.post(f"/projects/{project.id}/issues/1/award_emoji", other, name="thumbsup")
    assert given.status_code == 201, given.text
    award = given.json()
    assert (award["name"], award["awardable_id"], award["awardable_type"]) == ("thumbsup", issue["id"], "Issue")
    assert award["user"]["id"] == other.id
    assert api.get(f"/projects/{project.id}/issues/1/award_emoji/{award['id']}", owner).json() == award
    assert api.get(f"/projects/{project.id}/issues/1/award_emoji", owner).json() == [award]
    api.post(f"/projects/{project.id}/issues/1/award_emoji", other, name="-1")
    assert _votes(api, make, project.id) == (1, 1)
    api.post(f"/projects/{project.id}/issues/1/award_emoji", owner, name="tada")
    assert _votes(api, make, project.id) == (1, 1)
    for _ in range(2):
        gone = api.delete(f"/projects/{project.id}/issues/1/award_emoji/{award['id']}", other)
        assert (gone.status_code, gone.content) == (200, b"")
    assert _votes(api, make, project.id) == (0, 1)

    note = api.post(f"/projects/{project.id}/issues/1/notes", owner, body="note").json()["id"]
    given = api.post(f"/projects/{project.id}/issues/1/notes/{note}/award_emoji", other, name="+1")
    assert given.status_code == 201, given.text
    award = given.json()
    assert (award["name"], award["awardable_id"], award["awardable_type"]) == ("thumbsup", note, "Note")
    assert api.get(f"/projects/{project.id}/issues/1/notes/{note}/award_emoji", owner).json() == [award]
    assert api.get(f"/projects/{project.id}/issues/1/notes/{note}/award_emoji/{award['id']}", owner).json() == award
    assert api.get(f"/projects/{project.id}/issues/1/award_emoji/{award['id']}", owner).status_code == 404
    assert _votes(api, make, project.id) == (0, 1)
    gone = api.delete(f"/projects/{project.id}/issues/1/notes/{note}/award_emoji/{award['id']}", other)
    assert gone.status_code == 200
    assert api.get(f"/projects/{project.id}/issues/1/notes/{note}/award_emoji", owner).json() == []


def _votes(api: Api, make: Make, project_id: int) -> tuple[int, int]:
    issue = api.get(f"/projects/{project_id}/issues/1", make.root).json()
    return issue["upvotes"], issue["downvotes"]


def test_unicode_emoji(api: Api, make: Make) -> None:
    """Keyboards send the character, with or without a variation selector; the name is stored."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    path = f"/projects/{project.id}/issues/1/award_emoji"
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    given = [api.post(f"{path}?name={sign}", other) for sign in ("👍", "❤\ufe0f", "👨\u200d👨\u200d👦")]
    assert [answer.json()["name"] for answer in given] == ["thumbsup", "heart", "family_mmb"]
    assert _votes(api, make, project.id) == (1, 0)
    assert [api.post(path, other, name=name).status_code for name in ("❤", "thumbsup", "👍👍")] == [404] * 3
    assert len(api.get(f"/projects/{project.id}/issues", other, my_reaction_emoji="👍").json()) == 1
    assert api.get(f"/projects/{project.id}/issues", other, my_reaction_emoji="🎉").json() == []


@pytest.mark.parametrize("name", ["", " ", "no_such_emoji", "x" * 100_000, "<b>", "🎉\u202e"])
def test_unknown_emoji_are_rejected(api: Api, make: Make, name: str) -> None:
    """Only emoji that have a name."""
    owner = make.user()
    project = make_project(make, owner)
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    refused = api.post(f"/projects/{project.id}/issues/1/award_emoji", owner, name=name)
    assert refused.status_code == 404
    assert len(refused.text) < 200


def test_rejected_awards(api: Api, make: Make) -> None:
    """Duplicate awards, votes for oneself, removal of another user's award, and invalid parameters."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    base = f"/projects/{project.id}/issues/1/award_emoji"
    assert api.post(base, other).status_code == 400
    assert api.post(base, other, name=["tada"]).status_code == 400
    given = api.post(base, other, name="tada").json()["id"]
    assert api.post(base, other, name="tada").status_code == 404
    assert api.post(base, owner, name="tada").status_code == 201
    assert api.post(base, owner, name="thumbsup").status_code == 404
    assert api.delete(f"{base}/{given}", owner).status_code == 401
    assert api.delete(f"{base}/{given}", make.root).status_code == 200
    assert api.get(f"{base}/{given}", owner).status_code == 404
    assert api.get(f"{base}/x", owner).status_code == 400
    assert len(ids(api.get(base, owner))) == 1


def test_concurrent_awards_are_counted_once(api: Api, make: Make) -> None:
    """Concurrent awards of one emoji by one user are stored and counted once."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    base = f"/projects/{project.id}/issues/1/award_emoji"
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: api.post(base, other, name="thumbsup").status_code, range(6)))
    assert sorted(answers) == [201, *[404] * 5]
    assert _votes(api, make, project.id) == (1, 0)
    award = ids(api.get(base, other))[0]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: api.delete(f"{base}/{award}", other).status_code, range(6)))
    assert answers == [200] * 6
    assert _votes(api, make, project.id) == (0, 0)


CALLERS = [
    ("administrator", 200, 201),
    ("owner", 200, 201),
    ("developer", 200, 201),
    ("guest", 200, 201),
    ("stranger", 404, 404),
    ("nobody", 401, 401),
]


@pytest.mark.parametrize(("role", "read", "give"), CALLERS)
def test_permission_to_award(api: Api, make: Make, roles: UsersByRole, role: str, read: int, give: int) -> None:
    """Every user who can see an issue may award emoji."""
    project = project_with(make, roles)
    api.post(f"/projects/{project.id}/issues", roles.master, title="one")
    base = f"/projects/{project.id}/issues/1/award_emoji"
    assert api.get(base, roles[role]).status_code == read
    assert api.post(base, roles[role], name="thumbsdown").status_code == give
    assert _votes(api, make, project.id) == (0, 1 if give == 201 else 0)


def test_lists_filter_by_own_reaction(api: Api, make: Make) -> None:
    """Issues with and without the caller's reaction."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    base = f"/projects/{project.id}/issues"
    for title in ("one", "two", "three"):
        api.post(base, owner, title=title)
    api.post(f"{base}/1/award_emoji", other, name="thumbsup")
    api.post(f"{base}/2/award_emoji", other, name="tada")
    api.post(f"{base}/3/award_emoji", owner, name="tada")

    def iids(**params: object) -> list[int]:
        answer = api.get(base, other, sort="asc", **params)
        assert answer.status_code == 200, answer.text
        assert int(answer.headers["x-total"]) == len(answer.json())
        return [issue["iid"] for issue in answer.json()]

    assert iids(my_reaction_emoji="thumbsup") == iids(my_reaction_emoji="+1") == [1]
    assert iids(my_reaction_emoji="tada") == [2]
    assert iids(my_reaction_emoji="Any") == [1, 2]
    assert iids(my_reaction_emoji="None") == [3]
    assert iids(my_reaction_emoji="no_such_emoji") == []
    assert iids(**{"not[my_reaction_emoji]": "tada"}) == [1, 3]
    assert iids(my_reaction_emoji="thumbsup", **{"not[my_reaction_emoji]": "tada"}) == [1]
    assert [issue["iid"] for issue in api.get("/issues", other, scope="all", my_reaction_emoji="tada").json()] == [2]


def test_statements_do_not_grow(api: Api, make: Make) -> None:
    """The statement count does not depend on the size of the page."""
    owner = make.user()
    project = make_project(make, owner, visibility="public")
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    base = f"/projects/{project.id}/issues/1/award_emoji"
    api.post(base, owner, name="tada")
    cost = statements_of(make, lambda: api.get(base, owner))
    for _ in range(4):
        api.post(base, make.user(), name="tada")
    assert statements_of(make, lambda: api.get(base, owner)) == cost
    assert len(api.get(base, owner).json()) == 5
