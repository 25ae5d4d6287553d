"""Registration of runners, as runners and users send it."""

from typing import Any

import pytest

from ingot.ci.runners.registration import group_registration_token
from tests.client import Api, Make, User
from tests.factories import make_group, make_project
from tests.roles import UsersByRole, group_with, project_with

INFO = {"name": "gitlab-runner", "version": "17.9.3", "platform": "linux", "architecture": "amd64", "features": {}}


def instance_token(api: Api, make: Make) -> str:
    """Return the registration token of the instance."""
    token: str = api.get("/application/settings", make.root).json()["runners_registration_token"]
    return token


def registered(api: Api, token: str, **attributes: Any) -> dict[str, Any]:
    """Register a runner as gitlab-runner does; it sends the registration token as a header too."""
    sent = {"token": token, "description": "a runner", "info": INFO, **attributes}
    answer = api.request("POST", "/runners", json=sent, headers={"PRIVATE-TOKEN": token})
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_register_a_runner_of_the_instance(api: Api, make: Make) -> None:
    runner = registered(api, instance_token(api, make), tag_list="b, a,b", locked=False, maximum_timeout=0)
    assert runner.keys() == {"id", "token", "token_expires_at"}
    details = api.get(f"/runners/{runner['id']}", make.root).json()
    assert details["runner_type"] == "instance_type"
    assert (details["is_shared"], details["active"], details["paused"]) == (True, True, False)
    assert (details["tag_list"], details["run_untagged"], details["maximum_timeout"]) == (["a", "b"], True, None)
    assert (details["version"], details["architecture"], details["name"]) == ("17.9.3", "amd64", "gitlab-runner")
    assert (details["status"], details["online"], details["token"]) == ("never_contacted", None, runner["token"])


@pytest.mark.parametrize("form", [False, True])
def test_the_first_poll_is_stored(api: Api, make: Make, form: bool) -> None:
    """A runner is online when its first request for a job has been answered, with the machine that it names there."""
    # A runner with a tag of its own gets no job that another test has left.
    runner = registered(api, instance_token(api, make), info={}, tag_list="first-poll", run_untagged=False)
    path, token = f"/runners/{runner['id']}", runner["token"]
    if form:
        polled = api.request(
            "POST", "/jobs/request", data={"token": token, "info[version]": "17.9.4", "system_id": "m"}
        )
    else:
        polled = api.request(
            "POST", "/jobs/request", json={"token": token, "info": {"version": "17.9.4"}, "system_id": "m"}
        )
    assert polled.status_code == 204, polled.text
    details = api.get(path, make.root).json()
    assert (details["status"], details["online"], details["version"]) == ("online", True, "17.9.4")
    (manager,) = api.get(f"{path}/managers", make.root).json()
    assert (manager["system_id"], manager["version"]) == ("m", "17.9.4")


def test_register_a_runner_of_a_project_and_of_a_group(api: Api, make: Make) -> None:
    project, group = make_project(make), make_group(make)
    token = api.get(project.url, make.root).json()["runners_token"]
    details = api.get(f"/runners/{registered(api, token)['id']}", make.root).json()
    assert (details["runner_type"], [each["id"] for each in details["projects"]]) == ("project_type", [project.id])
    token = api.post(f"{group.url}/runners/reset_registration_token", make.root).json()["token"]
    details = api.get(f"/runners/{registered(api, token)['id']}", make.root).json()
    assert (details["runner_type"], [each["id"] for each in details["groups"]]) == ("group_type", [group.id])


def test_group_has_a_registration_token_before_the_first_reset(api: Api, make: Make) -> None:
    group, other = make_group(make), make_group(make)
    token = make.database.read(lambda db: group_registration_token(db, group.id))
    details = api.get(f"/runners/{registered(api, token)['id']}", make.root).json()
    assert (details["runner_type"], [each["id"] for each in details["groups"]]) == ("group_type", [group.id])
    forged = token.replace(f"GR-{group.id}-", f"GR-{other.id}-")
    assert api.request("POST", "/runners", json={"token": forged}).status_code == 403
    assert api.post(f"{group.url}/runners/reset_registration_token", make.root).status_code == 201
    assert api.request("POST", "/runners", json={"token": token}).status_code == 403


def test_a_reset_registration_token_replaces_the_old_one(api: Api, make: Make) -> None:
    project = make_project(make)
    url = f"{project.url}/runners/reset_registration_token"
    old = api.get(project.url, make.root).json()["runners_token"]
    registered(api, old)
    new = api.post(url, make.root).json()["token"]
    assert api.get(project.url, make.root).json()["runners_token"] == new
    assert api.post("/runners", token=old).status_code == 403
    registered(api, new)
    old = instance_token(api, make)
    new = api.post("/runners/reset_registration_token", make.root).json()["token"]
    assert instance_token(api, make) == new
    assert api.post("/runners", token=old).status_code == 403
    registered(api, new)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({}, 400),
        ({"token": "unknown"}, 403),
        ({"token": ""}, 400),
        ({"token": ["a"]}, 400),
        ({"token": "x" * 5000}, 400),
        ({"token": "a\0b"}, 400),
    ],
)
def test_registration_without_a_valid_token(api: Api, sent: dict[str, Any], status: int) -> None:
    assert api.post("/runners", **sent).status_code in (status, 403)


@pytest.mark.parametrize(
    "attributes",
    [
        {"run_untagged": False},
        {"tag_list": [f"tag-{number}" for number in range(51)]},
        {"tag_list": ["x" * 256]},
        {"maximum_timeout": 59},
        {"maximum_timeout": 10**12},
        {"access_level": "everyone"},
        {"info": "text"},
        {"active": True, "paused": True},
    ],
)
def test_invalid_attributes(api: Api, make: Make, attributes: dict[str, Any]) -> None:
    answer = api.post("/runners", token=instance_token(api, make), **attributes)
    assert answer.status_code == 400, answer.text


def test_verify_and_delete_with_the_token(api: Api, make: Make) -> None:
    runner = registered(api, instance_token(api, make))
    sent = {"token": runner["token"], "system_id": "s_123", "info": INFO}
    for headers in ({}, {"PRIVATE-TOKEN": runner["token"]}, {"RUNNER-TOKEN": runner["token"]}):
        answer = api.request("POST", "/runners/verify", json=sent, headers=headers)
        assert (answer.status_code, answer.json()) == (200, runner)
    url = f"/runners/{runner['id']}"
    managers = api.get(f"/runners/{runner['id']}/managers", make.root).json()
    assert [(each["system_id"], each["version"], each["status"]) for each in managers] == [
        ("s_123", "17.9.3", "online")
    ]
    gone = {"token": runner["token"], "system_id": "s_123"}
    assert api.request("DELETE", "/runners/managers", json=gone).status_code == 204
    assert api.request("DELETE", "/runners/managers", json=gone).status_code == 404
    assert api.request("DELETE", "/runners", json={"token": runner["token"]}).status_code == 204
    assert api.request("DELETE", "/runners", json={"token": runner["token"]}).status_code == 403
    assert api.post("/runners/verify", token=runner["token"]).status_code == 403
    assert api.get(url, make.root).status_code == 404


def test_reset_the_token_of_a_runner(api: Api, make: Make) -> None:
    runner = registered(api, instance_token(api, make))
    new = api.post("/runners/reset_authentication_token", token=runner["token"]).json()["token"]
    assert api.post("/runners/verify", token=runner["token"]).status_code == 403
    assert api.post("/runners/verify", token=new).status_code == 200
    newest = api.post(f"/runners/{runner['id']}/reset_authentication_token", make.root).json()["token"]
    assert api.post("/runners/verify", token=new).status_code == 403
    assert api.post("/runners/verify", token=newest).status_code == 200


def _created(api: Api, caller: User | None, **attributes: Any) -> tuple[int, dict[str, Any]]:
    answer = api.post("/user/runners", caller, **attributes)
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    ("role", "of_instance", "of_group", "of_project"),
    [
        ("administrator", 201, 201, 201),
        ("owner", 403, 201, 201),
        ("master", 403, 403, 201),
        ("developer", 403, 403, 403),
        ("stranger", 403, 404, 404),
        ("nobody", 401, 401, 401),
    ],
)
def test_create_a_runner_as_a_user(
    api: Api, make: Make, roles: UsersByRole, role: str, of_instance: int, of_group: int, of_project: int
) -> None:
    project, group = project_with(make, roles), group_with(make, roles)
    assert _created(api, roles[role], runner_type="instance_type")[0] == of_instance
    assert _created(api, roles[role], runner_type="group_type", group_id=group.id)[0] == of_group
    status, runner = _created(api, roles[role], runner_type="project_type", project_id=project.id, paused=True)
    assert status == of_project
    if status == 201:
        assert runner["token"].startswith("glrt-")
        details = api.get(f"/runners/{runner['id']}", roles[role]).json()
        assert (details["paused"], details["status"], details["token"]) == (True, "never_contacted", None)
        assert api.post("/runners/verify", token=runner["token"]).status_code == 200


def test_creation_needs_its_owner(api: Api, make: Make) -> None:
    assert _created(api, make.root, runner_type="group_type")[0] == 400
    assert _created(api, make.root, runner_type="project_type")[0] == 400
    assert _created(api, make.root, runner_type="all")[0] == 400
    assert _created(api, make.root)[0] == 400
