"""Stars: one per user, and counted."""

import threading

import pytest

from tests.client import Api, Make
from tests.factories import ids, make_project

CALLERS = [
    ("nobody", "public", 401),
    ("stranger", "private", 404),
    ("stranger", "public", 201),
    ("external", "internal", 404),
    ("guest", "private", 201),
]


@pytest.mark.parametrize(("who", "visibility", "status"), CALLERS)
def test_users_who_can_see_a_project_may_star_it(api: Api, make: Make, who: str, visibility: str, status: int) -> None:
    user = make.user(external=who == "external")
    project = make_project(make, members={user: 10 if who == "guest" else 0}, visibility=visibility)
    caller = None if who == "nobody" else user

    starred = api.post(f"{project.url}/star", caller)

    assert starred.status_code == status
    assert api.get(project.url, make.root).json()["star_count"] == (1 if status == 201 else 0)
    if status == 201:
        assert starred.json()["star_count"] == 1


def test_starring_twice_changes_nothing(api: Api, make: Make) -> None:
    user, project = make.user(), make_project(make, visibility="public")

    for verb, status, count in (
        ("unstar", 304, 0),
        ("star", 201, 1),
        ("star", 304, 1),
        ("unstar", 201, 0),
        ("unstar", 304, 0),
    ):
        assert api.post(f"{project.url}/{verb}", user).status_code == status
        assert api.get(project.url).json()["star_count"] == count


def test_starrers_are_listed(api: Api, make: Make) -> None:
    first, second = make.user(), make.user()
    project = make_project(make, visibility="public")
    for user in (first, second):
        api.post(f"{project.url}/star", user)

    listed = api.get(f"{project.url}/starrers", first).json()

    assert [each["user"]["id"] for each in listed] == [first.id, second.id]
    assert set(listed[0]) == {"starred_since", "user"}
    assert set(listed[0]["user"]) == {"id", "username", "name", "state", "avatar_url", "web_url"}
    (found,) = api.get(f"{project.url}/starrers", first, search=second.username).json()
    assert found["user"]["id"] == second.id
    assert api.get(f"{project.url}/starrers").status_code == 401


def test_starred_projects_of_a_user_are_listed_if_visible(api: Api, make: Make) -> None:
    fan, public = make.user(), make_project(make, visibility="public")
    private = make_project(make, members={fan: 10})
    mine = make_project(make, visibility="public")
    caller = make.user()
    for project in (public, private):
        api.post(f"{project.url}/star", fan)
    api.post(f"{mine.url}/star", caller)
    api.post(f"{public.url}/star", caller)

    place = f"/users/{fan.id}/starred_projects"
    assert set(ids(api.get(place, fan))) == {public.id, private.id}
    assert ids(api.get(place, caller)) == [public.id]
    assert ids(api.get(place, caller, starred=True)) == [public.id]
    assert ids(api.get(f"/users/{fan.username}/starred_projects", caller)) == [public.id]
    assert api.get(place).status_code == 401
    assert api.get("/users/999999999/starred_projects", caller).status_code == 404


def test_concurrent_stars_are_counted_once(api: Api, make: Make) -> None:
    users, project = [make.user() for _ in range(2)], make_project(make, visibility="public")
    answers: list[int] = []

    def star(number: int) -> None:
        with Api(api.url) as client:
            answers.append(client.post(f"{project.url}/star", users[number % 2]).status_code)

    threads = [threading.Thread(target=star, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == [201, 201, 304, 304, 304, 304]
    assert api.get(project.url).json()["star_count"] == 2
