"""Deployments that callers report."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.client import Api, Make
from tests.factories import ids, make_project, statements_of
from tests.roles import UsersByRole, project_with

SHA = "0123456789abcdef0123456789abcdef01234567"
PARAMS: dict[str, Any] = {"environment": "live", "sha": SHA, "ref": "main", "tag": False, "status": "running"}
CALLERS = [
    ("administrator", 200, 200),
    ("owner", 200, 200),
    ("developer", 200, 200),
    ("reporter", 200, 403),
    ("guest", 403, 403),
    ("stranger", 404, 404),
    ("nobody", 401, 401),
]


@pytest.mark.parametrize(("role", "read", "write"), CALLERS)
def test_developers_report_and_reporters_read(
    api: Api, make: Make, roles: UsersByRole, role: str, read: int, write: int
) -> None:
    project, caller = project_with(make, roles), roles[role]
    made = api.post(f"/projects/{project.id}/deployments", caller, **PARAMS)
    assert made.status_code == (201 if write == 200 else write)
    deployment_id = api.post(f"/projects/{project.id}/deployments", make.root, **PARAMS).json()["id"]

    assert api.get(f"/projects/{project.id}/deployments", caller).status_code == read
    assert api.get(f"/projects/{project.id}/deployments/{deployment_id}", caller).status_code == read
    edited = api.put(f"/projects/{project.id}/deployments/{deployment_id}", caller, status="failed")
    assert edited.status_code == write
    now = api.get(f"/projects/{project.id}/deployments/{deployment_id}", make.root).json()
    assert now["status"] == ("failed" if write == 200 else "running")


def test_a_deployment_has_all_fields_and_creates_its_environment(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    made = api.post(f"/projects/{project.id}/deployments", roles.developer, **{**PARAMS, "sha": SHA.upper()})
    environments = api.get(f"/projects/{project.id}/environments", roles.developer).json()
    (environment,) = environments
    brief = ("id", "name", "slug", "external_url", "created_at", "updated_at")
    assert made.json() == {
        "id": made.json()["id"],
        "iid": 1,
        "ref": "main",
        "sha": SHA,
        "created_at": made.json()["created_at"],
        "updated_at": made.json()["created_at"],
        "status": "running",
        "user": made.json()["user"],
        "environment": {name: environment[name] for name in brief},
        "deployable": None,
    }
    assert made.json()["user"]["username"] == roles.developer.username
    again = api.post(f"/projects/{project.id}/deployments", roles.developer, **PARAMS).json()
    assert (again["iid"], again["environment"]["id"]) == (2, environment["id"])
    other = api.post(f"/projects/{project_with(make, roles).id}/deployments", roles.developer, **PARAMS).json()
    assert other["iid"] == 1


def test_a_successful_deployment_becomes_the_last_one(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/deployments"
    first = api.post(where, roles.developer, **PARAMS).json()
    environment_id, deployment_id = first["environment"]["id"], first["id"]
    api.post(f"/projects/{project.id}/environments/{environment_id}/stop", roles.developer)
    place = f"/projects/{project.id}/environments/{environment_id}"
    assert api.get(place, roles.developer).json()["last_deployment"] is None
    done = api.put(f"/projects/{project.id}/deployments/{deployment_id}", roles.developer, status="success")
    assert (done.status_code, done.json()["status"]) == (200, "success")
    shown = api.get(place, roles.developer).json()
    assert (shown["state"], shown["last_deployment"]["id"]) == ("available", deployment_id)
    back = api.put(f"{where}/{deployment_id}", roles.developer, status="running")
    assert (back.status_code, back.json()["message"]) == (400, {"status": ["cannot become running after success"]})
    assert api.put(f"{where}/{deployment_id}", roles.developer, status="success").status_code == 200
    api.post(where, roles.developer, **{**PARAMS, "status": "failed"})
    assert api.get(place, roles.developer).json()["last_deployment"]["id"] == deployment_id
    assert api.delete(place, roles.owner).status_code == 200
    assert api.get(where, roles.developer).json() == [], "deployments go with their environment"


REFUSED: list[tuple[dict[str, Any], object]] = [
    ({"sha": None}, '400 (Bad request) "sha" not given'),
    ({"environment": None}, '400 (Bad request) "environment" not given'),
    ({"tag": ""}, '400 (Bad request) "tag" not given'),
    ({"sha": "abc"}, {"sha": ["is invalid"]}),
    ({"sha": "g" * 40}, {"sha": ["is invalid"]}),
    ({"sha": SHA + "\n"}, {"sha": ["is invalid"]}),
    ({"ref": " "}, {"ref": ["can't be blank"]}),
    ({"ref": "r" * 256}, {"ref": ["is too long (maximum is 255 characters)"]}),
    ({"tag": "maybe"}, {"tag": ["is invalid"]}),
    ({"status": "created"}, {"status": ["is invalid"]}),
    (
        {"environment": "ümlaut"},
        {"name": ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.' and spaces"]},
    ),
]


@pytest.mark.parametrize(("sent", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_invalid_deployments_are_rejected(
    api: Api, make: Make, roles: UsersByRole, sent: dict[str, Any], message: object
) -> None:
    project = project_with(make, roles)
    answer = api.post(f"/projects/{project.id}/deployments", roles.owner, **{**PARAMS, **sent})
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert api.get(f"/projects/{project.id}/environments", roles.owner).json() == []


def test_list_filters_and_orders_with_constant_statements(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/deployments"
    made = [
        api.post(where, roles.developer, **{**PARAMS, "ref": ref, "environment": place, "status": status}).json()
        for ref, place, status in (("b", "live", "success"), ("a", "test", "failed"), ("c", "live", "running"))
    ]
    first, second, third = (each["id"] for each in made)
    assert ids(api.get(where, roles.reporter)) == [first, second, third]
    assert ids(api.get(where, roles.reporter, sort="desc")) == [third, second, first]
    assert ids(api.get(where, roles.reporter, order_by="ref")) == [second, first, third]
    assert ids(api.get(where, roles.reporter, environment="live")) == [first, third]
    assert ids(api.get(where, roles.reporter, status="failed")) == [second]
    assert ids(api.get(where, roles.reporter, status="blocked")) == []
    assert ids(api.get(where, roles.reporter, updated_before="2001-01-01")) == []
    assert len(ids(api.get(where, roles.reporter, updated_after="2001-01-01"))) == 3
    assert ids(api.get(where, roles.reporter, finished_after="2001-01-01")) == [first, second]
    assert ids(api.get(where, roles.reporter, finished_before="2001-01-01")) == []
    assert api.get(where, roles.reporter, order_by="sha").status_code == 400
    assert api.get(where, roles.reporter, updated_after="7").status_code == 400
    page = api.get(where, roles.reporter, per_page=2)
    assert (ids(page), page.headers["x-total"]) == ([first, second], "3")
    assert ids(api.get(where, roles.reporter, pagination="keyset", per_page=2)) == [third, second]
    few, many = (statements_of(make, partial(api.get, where, roles.reporter, per_page=n)) for n in (1, 100))
    assert many <= few


def test_a_deployment_is_found_only_in_its_project(api: Api, make: Make, roles: UsersByRole) -> None:
    project, other = project_with(make, roles), make_project(make, roles.stranger)
    deployment_id = api.post(f"/projects/{project.id}/deployments", roles.owner, **PARAMS).json()["id"]
    where = f"/projects/{other.id}/deployments"
    assert api.get(f"{where}/{deployment_id}", roles.stranger).status_code == 404
    assert api.put(f"{where}/{deployment_id}", roles.stranger, status="failed").status_code == 404
    assert api.get(f"{where}/x", roles.stranger).status_code == 400


def test_concurrent_deployments_get_consecutive_iids(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/deployments"
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: api.post(where, roles.developer, **PARAMS), range(12)))
    assert {answer.status_code for answer in answers} == {201}
    assert sorted(answer.json()["iid"] for answer in answers) == list(range(1, 13))


def test_a_deployment_outlives_its_reporter(api: Api, make: Make, roles: UsersByRole) -> None:
    person = make.user()
    project = make_project(make, roles.owner, members={person: 30})
    deployment_id = api.post(f"/projects/{project.id}/deployments", person, **PARAMS).json()["id"]
    assert api.delete(f"/users/{person.id}", make.root).status_code in (200, 204)
    assert api.get(f"/projects/{project.id}/deployments/{deployment_id}", roles.owner).json()["user"] is None


@pytest.mark.parametrize(("role", "status"), [("owner", 204), ("developer", 403), ("stranger", 404), ("nobody", 401)])
def test_maintainers_delete_old_deployments(api: Api, make: Make, roles: UsersByRole, role: str, status: int) -> None:
    project, caller = project_with(make, roles), roles[role]
    where = f"/projects/{project.id}/deployments"
    old, last, running = (
        api.post(where, make.root, **PARAMS | {"status": each}).json()["id"]
        for each in ("success", "success", "running")
    )
    assert api.delete(f"{where}/{old}", caller).status_code == status
    assert ids(api.get(where, make.root)) == [each for each in (old, last, running) if status != 204 or each != old]
    refused = {last: "Deployment currently deployed to environment", running: "Cannot destroy running deployment"}
    for number, message in refused.items():
        answer = api.delete(f"{where}/{number}", make.root)
        assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert api.delete(f"{where}/{old if status == 204 else 999_999}", make.root).status_code == 404
