"""Project limits of users, and external users."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import make_group, make_project


def test_the_limit_applies_to_personal_projects(api: Api, make: Make) -> None:
    user = make.user(projects_limit=2)
    group, source = make_group(make, user), make_project(make, visibility="public")
    first = make_project(make, user)
    make_project(make, user)

    refused = api.post("/projects", user, name="One Too Many")

    assert refused.status_code == 403
    assert "Your project limit is 2 projects!" in refused.json()["message"]
    assert api.post(f"{source.url}/fork", user).status_code == 403
    assert api.post("/projects", user, name="Ours", namespace_id=group.id).status_code == 201
    assert api.post(f"{source.url}/fork", user, namespace=group.id).status_code == 201
    api.delete(first.url, user)
    assert api.post("/projects", user, name="Room Again").status_code == 201
    own = api.get(f"/namespaces/{user.username}", user).json()["id"]
    assert api.post("/projects", make.root, name="By Root", namespace_id=own).status_code == 201


@pytest.mark.parametrize("limit", [0, 1])
def test_the_limit_is_exact(api: Api, make: Make, limit: int) -> None:
    user = make.user(projects_limit=limit)

    statuses = [api.post("/projects", user, name=f"Project {number}").status_code for number in range(2)]

    assert statuses == [201] * limit + [403] * (2 - limit)


def test_external_users_create_no_projects(api: Api, make: Make) -> None:
    """Neither by creating, forking or transferring, nor in a group."""
    user = make.user(external=True)
    group = make_group(make, members={user: Level.OWNER})
    project = make_project(make, group=group)
    public = make_project(make, visibility="public")

    attempts: list[tuple[str, str, dict[str, Any], int]] = [
        ("POST", "/projects", {"name": "x"}, 403),
        ("POST", "/projects", {"name": "x", "namespace_id": group.id}, 400),
        ("POST", f"{public.url}/fork", {}, 403),
        ("POST", f"{public.url}/fork", {"namespace": group.id}, 404),
        ("POST", f"{public.url}/fork", {"namespace": user.username}, 404),
        ("PUT", f"{project.url}/transfer", {"namespace": user.username}, 404),
        ("POST", "/groups", {"name": "x", "path": make.name("x")}, 403),
        ("POST", "/groups", {"name": "x", "path": "x", "parent_id": group.id}, 403),
        ("POST", f"{group.url}/transfer", {}, 400),
    ]
    for method, path, sent, status in attempts:
        assert api.request(method, path, user, json=sent).status_code in (status, 403), (method, path, sent)
    # A higher limit does not change that.
    api.put(f"/users/{user.id}", make.root, projects_limit=10)
    assert api.post("/projects", user, name="x").status_code == 403


def test_long_texts_are_stored(api: Api, make: Make) -> None:
    text = "ü🚀" * 500_000

    made = api.post("/projects", make.root, name=make.name("long"), description=text)

    assert made.status_code == 201
    assert api.get(f"/projects/{made.json()['id']}", make.root).json()["description"] == text


@pytest.mark.parametrize(
    "sent",
    [
        {"name": {"a": "b"}},
        {"name": ["x"]},
        {"name": "x", "tag_list": {"a": {"b": "c"}}},
        {"name": "x", "namespace_id": 1.5},
        {"name": "x", "namespace_id": 10**40},
        {"name": "x", "namespace_id": [1]},
        {"name": "x", "visibility": {"a": 1}},
    ],
    ids=str,
)
def test_wrong_types_are_rejected(api: Api, make: Make, sent: dict[str, Any]) -> None:
    assert api.post("/projects", make.root, **sent).status_code == 400


def test_a_lone_surrogate_is_rejected(api: Api, make: Make) -> None:
    """JSON can encode one, but UTF-8 cannot."""
    headers = {"content-type": "application/json"}
    sent = api.request("POST", "/projects", make.root, content=b'{"name": "\\ud800"}', headers=headers)

    assert sent.status_code == 400
