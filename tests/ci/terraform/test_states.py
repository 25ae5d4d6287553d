"""The HTTP backend of Terraform: states with versions and locks."""

import base64
import hashlib
import json
from functools import partial
from typing import Any

import httpx
import pytest

from ingot.ci.terraform.files import state_store_of
from ingot.ci.terraform.jobs import StateFileJobs
from ingot.ci.terraform.queries import existing_keys, find_state, latest_version_or_none, recorded_versions
from ingot.ci.terraform.tables import StateVersion
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.roles import UsersByRole, project_with

LOCK = {
    "ID": "1f9c8b6e",
    "Operation": "OperationTypeApply",
    "Info": "",
    "Who": "ada@laptop",
    "Version": "1.12.6",
    "Created": "2026-11-18T20:00:00Z",
    "Path": "",
}


@pytest.fixture
def project(make: Make) -> Project:
    """Return a project."""
    return make_project(make)


def _url(project: Project, name: str = "production") -> str:
    return f"{project.url}/terraform/state/{name}"


def _document(serial: int, secret: str = "a secret value") -> bytes:
    return json.dumps({"version": 4, "serial": serial, "lineage": "x", "outputs": {"password": secret}}).encode()


def _save(
    make: Make, project: Project, serial: int, user: User | None = None, name: str = "production", **query: str
) -> httpx.Response:
    headers = {"Content-Type": "application/json"}
    url, caller = _url(project, name), user or make.root
    return make.api.request("POST", url, caller, content=_document(serial), params=query, headers=headers)


def _lock(make: Make, project: Project, user: User | None = None, **fields: Any) -> httpx.Response:
    return make.api.post(f"{_url(project)}/lock", user or make.root, **{**LOCK, **fields})


def _unlock(make: Make, project: Project, **fields: Any) -> int:
    return make.api.request("DELETE", f"{_url(project)}/lock", make.root, json=fields).status_code


def test_a_state_is_saved_read_and_deleted(make: Make, project: Project) -> None:
    assert make.api.get(_url(project), make.root).status_code == 404
    assert make.api.request("POST", _url(project), make.root, content=b"").status_code == 204
    assert make.api.get(_url(project), make.root).status_code == 404
    for serial in (1, 2, 10):
        assert _save(make, project, serial).status_code == 200
    assert make.api.get(_url(project), make.root).content == _document(10)
    assert make.api.get(f"{_url(project)}/versions/2", make.root).content == _document(2)
    assert make.api.get(f"{_url(project)}/versions/3", make.root).status_code == 404
    duplicate = _save(make, project, 10)
    assert duplicate.status_code == 422 and "already exists" in duplicate.text
    assert make.api.delete(f"{_url(project)}/versions/10", make.root).status_code == 204
    assert make.api.delete(f"{_url(project)}/versions/10", make.root).status_code == 404
    assert make.api.get(_url(project), make.root).content == _document(2)
    (listed,) = make.api.get(f"{project.url}/terraform/state", make.root).json()
    assert listed["name"] == "production" and listed["locked_at"] is None and listed["locked_by"] is None
    latest = listed["latest_version"]
    assert (latest["serial"], latest["size"], latest["job_id"]) == (2, len(_document(2)), None)
    assert latest["created_by"]["username"] == "root"
    assert make.api.delete(_url(project), make.root).status_code == 200
    assert make.api.delete(_url(project), make.root).status_code == 404
    assert make.api.get(f"{project.url}/terraform/state", make.root).json() == []


def test_a_state_without_versions_is_empty(make: Make, project: Project) -> None:
    assert _lock(make, project).status_code == 200
    empty = make.api.get(_url(project), make.root)
    assert empty.status_code == 204 and empty.content == b""


def test_a_lock_keeps_others_out(make: Make, project: Project) -> None:
    taken = _lock(make, project)
    assert taken.status_code == 200 and taken.json() == {**LOCK, "Who": "root", "Created": taken.json()["Created"]}
    other = _lock(make, project, ID="another")
    assert other.status_code == 409 and other.json() == taken.json()
    refused = _save(make, project, 1)
    assert refused.status_code == 423 and refused.json() == {"message": "423 Locked - The state is locked"}
    assert _save(make, project, 1, ID="another").status_code == 423
    assert _save(make, project, 1, ID=LOCK["ID"]).status_code == 200
    assert make.api.get(_url(project), make.root).status_code == 200
    assert make.api.delete(_url(project), make.root).status_code == 423
    version = f"{_url(project)}/versions/1"
    for lock in ({}, {"ID": "another"}):
        assert make.api.request("DELETE", version, make.root, params=lock).status_code == 423
    (listed,) = make.api.get(f"{project.url}/terraform/state", make.root).json()
    assert listed["locked_at"] == taken.json()["Created"] and listed["locked_by"]["username"] == "root"
    assert _unlock(make, project, ID="another") == 409
    assert make.api.request("DELETE", version, make.root, params={"ID": LOCK["ID"]}).status_code == 204
    assert _unlock(make, project, **LOCK) == 200
    assert _unlock(make, project, **LOCK) == 409
    assert _lock(make, project, ID="another").status_code == 200
    assert _unlock(make, project) == 200  # As force-unlock does.
    assert _save(make, project, 2).status_code == 200
    assert make.api.request("DELETE", f"{_url(project, 'unknown')}/lock", make.root, json={}).status_code == 404


def test_states_with_unusual_names(make: Make, project: Project) -> None:
    assert _save(make, project, 1, name="eu%2Fweb.v1%20b").status_code in (200, 404)
    assert _save(make, project, 1, name="a.b-c_d").status_code == 200
    assert make.api.get(_url(project, "a.b-c_d"), make.root).status_code == 200
    for name, problem in (("x" * 256, "is too long (maximum is 255 characters)"), ("a%0Ab", "is invalid")):
        for refused in (
            _save(make, project, 1, name=name),
            make.api.post(f"{_url(project, name)}/lock", make.root, **LOCK),
        ):
            assert (refused.status_code, refused.json()["message"]) == (400, {"name": [problem]})
    assert _save(make, project, 1, name="%2E%2E").status_code == 400


def test_invalid_states_and_locks_are_refused(make: Make, project: Project) -> None:
    for content in (
        b"{",
        b"[]",
        b"{}",
        b'{"serial": "x"}',
        b'{"serial": -1}',
        b'{"serial": 1e40}',
        b"\xff" * 9,
        b"[" * 9999,
    ):
        refused = make.api.request("POST", _url(project), make.root, content=content)
        assert refused.status_code == 400, content
    digest = base64.b64encode(hashlib.md5(_document(1), usedforsecurity=False).digest()).decode()
    for value, status in ((digest, 200), ("x", 400), (base64.b64encode(b"x" * 16).decode(), 400)):
        headers = {"Content-MD5": value}
        answer = make.api.request("POST", _url(project), make.root, content=_document(1), headers=headers)
        assert answer.status_code == status, value
    assert _lock(make, project, ID="").status_code == 400
    assert _lock(make, project, ID="x" * 256).status_code == 400
    assert _lock(make, project, Path="x" * 2000).status_code == 400
    assert make.api.get(f"{_url(project)}/versions/x", make.root).status_code in (400, 404)


def test_the_size_is_limited(make: Make, project: Project) -> None:
    settings = "/application/settings"
    size = len(_document(1))
    for limit, status in ((size - 1, 413), (size, 200)):
        assert make.api.put(settings, make.root, max_terraform_state_size_bytes=limit).status_code == 200
        try:
            assert _save(make, project, 1).status_code == status
        finally:
            make.api.put(settings, make.root, max_terraform_state_size_bytes=0)
    assert make.api.put(settings, make.root, max_terraform_state_size_bytes=-1).status_code == 400


def test_developers_read_and_maintainers_change(make: Make) -> None:
    roles = UsersByRole(make)
    project = project_with(make, roles)
    assert _save(make, project, 1).status_code == 200
    read = {"master": 200, "developer": 200, "reporter": 403, "guest": 403, "stranger": 404, "nobody": 401}
    paths = (f"{project.url}/terraform/state", _url(project), f"{_url(project)}/versions/1")
    for role, status in read.items():
        for path in paths:
            assert make.api.get(path, roles[role]).status_code == status, (role, path)
    for role, status in {"developer": 403, "reporter": 403, "stranger": 404}.items():
        user = roles[role]
        assert _save(make, project, 2, user).status_code == status
        assert _lock(make, project, user).status_code == status
        for path in (f"{_url(project)}/lock", f"{_url(project)}/versions/1", _url(project)):
            assert make.api.delete(path, user).status_code == status, (role, path)
    assert _save(make, project, 2, roles.master).status_code == 200
    assert make.api.put(project.url, roles.owner, infrastructure_access_level="disabled").status_code == 200
    assert make.api.get(_url(project), roles.owner).status_code == 403


def _basic(username: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}


def test_tokens_are_passwords(make: Make) -> None:
    project, other = make_project(make, default_branch="main"), make_project(make, visibility="private")
    commit_files(make, project, {".gitlab-ci.yml": "apply: {script: tofu apply}"})
    job = project_runner(make, project.id).must_take()
    refused = make.api.request("GET", _url(project))
    assert refused.status_code == 401 and "basic" in refused.headers["www-authenticate"].lower()
    assert make.api.request("GET", _url(project), headers=_basic("root", "wrong")).status_code == 401
    for serial, credentials in enumerate((_basic("root", make.root.token), _basic("gitlab-ci-token", job.token)), 1):
        saved = make.api.request("POST", _url(project), headers=credentials, content=_document(serial))
        assert saved.status_code == 200
    (listed,) = make.api.get(f"{project.url}/terraform/state", make.root).json()
    assert listed["latest_version"]["job_id"] == job.id
    assert make.api.request("GET", _url(other), headers=_basic("gitlab-ci-token", job.token)).status_code == 404
    job.finish()
    assert make.api.request("GET", _url(project), headers=_basic("gitlab-ci-token", job.token)).status_code == 401


def _latest(make: Make, project: Project) -> StateVersion:
    state = make.database.read(partial(find_state, project_id=project.id, name="production"))
    version = make.database.read(partial(latest_version_or_none, state_id=state.id))
    assert version is not None
    return version


def test_versions_are_encrypted_and_their_files_are_deleted(
    make: Make, instance: Instance, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = state_store_of(instance.app.settings)
    assert _save(make, project, 1).status_code == 200
    first = _latest(make, project)
    assert b"secret" not in store.storage.disk.path_of(first.storage_key).read_bytes()
    assert (first.id, first.storage_key, first.stored_size) in make.database.read(
        partial(recorded_versions, after=first.id - 1)
    )
    assert _save(make, project, 1).status_code == 422
    lost = store.store(make.database.vault, b"lost").storage_key
    assert make.database.read(partial(existing_keys, keys=[lost, first.storage_key])) == {first.storage_key}
    monkeypatch.setattr("ingot.ci.encrypted_files.jobs.SWEEP_AFTER_SECONDS", -1)
    StateFileJobs(store).sweep(make.database, None)
    assert store.storage.size_of(lost) is None
    assert make.api.get(_url(project), make.root).content == _document(1)
    assert make.api.delete(_url(project), make.root).status_code == 200
    instance.work()
    assert store.storage.size_of(first.storage_key) is None
