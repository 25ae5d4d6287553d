"""Instance settings about runners."""

from typing import Any

from ingot.core.db.times import add_duration
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, later, make_group, make_project
from tests.instance_settings import PATH


def test_registration_tokens_can_be_disabled(api: Api, make: Make) -> None:
    token = api.get(PATH, make.root).json()["runners_registration_token"]
    owner = make.user()
    group = make_group(make, owner)
    project = make_project(make, owner)
    with changed_settings(make, allow_runner_registration_token=False):
        assert api.get(PATH, make.root).json()["runners_registration_token"] is None
        for owned in (group, project):
            assert api.get(owned.url, owner).json()["runners_token"] is None
            assert api.post(f"{owned.url}/runners/reset_registration_token", owner).status_code == 403
        assert api.post("/runners/reset_registration_token", make.root).status_code == 403
        assert api.post("/runners", token=token).status_code == 403
        assert api.post("/user/runners", make.root, runner_type="instance_type").status_code == 201
    assert api.post("/runners", token=token).status_code == 201
    for owned in (group, project):
        assert api.get(owned.url, owner).json()["runners_token"]
        assert api.post(f"{owned.url}/runners/reset_registration_token", owner).status_code == 201


def test_projects_and_groups_without_own_runners(api: Api, make: Make) -> None:
    owner = make.user()
    project, group = make_project(make, owner), make_group(make, owner)
    created = {
        "project": {"runner_type": "project_type", "project_id": project.id},
        "group": {"runner_type": "group_type", "group_id": group.id},
    }
    for allowed in ([], ["group"], ["project"], ["project", "group"]):
        with changed_settings(make, valid_runner_registrars=allowed):
            for kind, sent in created.items():
                path = f"/{kind}s/{project.id if kind == 'project' else group.id}/runners/reset_registration_token"
                token = api.post(path, owner).json()["token"]
                status = 201 if kind in allowed else 403
                assert api.post("/runners", token=token).status_code == status, (allowed, kind)
                assert api.post("/user/runners", owner, **sent).status_code == status, (allowed, kind)
                assert api.post("/user/runners", make.root, **sent).status_code == 201
    assert api.put(PATH, make.root, valid_runner_registrars=["instance"]).status_code == 400


def test_tokens_of_runners_expire(api: Api, make: Make, instance: Instance) -> None:
    owner = make.user()
    kinds: dict[str, dict[str, Any]] = {
        "runner": {"runner_type": "instance_type"},
        "group_runner": {"runner_type": "group_type", "group_id": make_group(make, owner).id},
        "project_runner": {"runner_type": "project_type", "project_id": make_project(make, owner).id},
    }
    for name, sent in kinds.items():
        assert api.post("/user/runners", make.root, **sent).json()["token_expires_at"] is None
        with changed_settings(make, **{f"{name}_token_expiration_interval": 7200}):
            runner = api.post("/user/runners", make.root, **sent).json()
            now = instance.app.database.clock()
            assert add_duration(now, minutes=115) < runner["token_expires_at"] <= add_duration(now, minutes=120)
            for other in kinds.keys() - {name}:
                assert api.post("/user/runners", make.root, **kinds[other]).json()["token_expires_at"] is None
            reset = api.post(f"/runners/{runner['id']}/reset_authentication_token", make.root).json()
            assert reset["token_expires_at"] is not None
        with later(instance, minutes=110):
            assert api.post("/runners/verify", token=reset["token"]).status_code == 200
        with later(instance, minutes=121):
            assert api.post("/runners/verify", token=reset["token"]).status_code == 403
        assert api.put(PATH, make.root, **{f"{name}_token_expiration_interval": 7199}).status_code == 400
