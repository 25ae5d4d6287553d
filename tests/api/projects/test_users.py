"""Users of a project."""

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import ids, make_group, make_project, statements_of

BRIEF = {"id", "username", "name", "state", "avatar_url", "web_url"}


def test_each_user_with_access_is_listed_once(api: Api, make: Make) -> None:
    owner, by_group, both = make.user(), make.user(), make.user()
    top = make_group(make, owner, members={by_group: Level.GUEST, both: Level.REPORTER})
    group = make_group(make, owner, parent=top)
    project = make_project(make, owner, group=group, members={both: Level.DEVELOPER})

    listed = api.get(f"{project.url}/users", by_group)

    assert sorted(ids(listed)) == sorted([owner.id, by_group.id, both.id])
    assert listed.headers["x-total"] == "3"
    assert all(set(user) == BRIEF for user in listed.json())
    assert "@example.org" not in listed.text
    for term, expected in ((both.username, [both.id]), (both.username.upper(), [both.id]), ("nobody-here", [])):
        assert ids(api.get(f"{project.url}/users", owner, search=term)) == expected


@pytest.mark.parametrize(
    ("who", "visibility", "status"),
    [("nobody", "public", 401), ("stranger", "public", 200), ("stranger", "private", 404), ("root", "private", 200)],
)
def test_users_are_listed_for_all_who_can_see_the_project(
    api: Api, make: Make, who: str, visibility: str, status: int
) -> None:
    project = make_project(make, visibility=visibility)
    caller = {"nobody": None, "stranger": make.user(), "root": make.root}[who]

    assert api.get(f"{project.url}/users", caller).status_code == status


def test_a_longer_list_takes_no_more_statements(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    costs = []
    for _ in range(2):
        for _ in range(2):
            api.post(f"{project.url}/members", owner, user_id=make.user().id, access_level=10)
        costs.append(statements_of(make, lambda: api.get(f"{project.url}/users", owner)))

    assert costs[0] == costs[1]
