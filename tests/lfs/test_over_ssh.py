"""LFS over SSH: ``git-lfs-authenticate`` returns a token, and runs nothing."""

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.core.db.times import add_duration
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.lfs.conftest import LfsClient
from tests.transport.conftest import BASE, ssh_command


@pytest.fixture
def keys(tmp_path: Path) -> Callable[[], tuple[str, Path]]:
    """Return a function that creates keys: the public line, and the path of the private one."""

    def make_one() -> tuple[str, Path]:
        key = tmp_path / f"key-{len(list(tmp_path.iterdir()))}"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        return Path(f"{key}.pub").read_text(), key

    return make_one


def _authenticate(instance: Instance, key: Path, *words: str) -> subprocess.CompletedProcess[str]:
    ssh = [*ssh_command(key).split(), "-T", "-p", str(instance.settings.ssh_port), "git@127.0.0.1"]
    return subprocess.run([*ssh, " ".join(words)], env=BASE, capture_output=True, text=True, check=False)


def _credentials(instance: Instance, key: Path, project: Project, operation: str) -> dict[str, Any]:
    answer = _authenticate(instance, key, "git-lfs-authenticate", f"/{project.path}.git", operation)
    assert answer.returncode == 0, answer.stderr
    credentials: dict[str, Any] = json.loads(answer.stdout)
    return credentials


def _identity(credentials: dict[str, Any]) -> tuple[str, str]:
    name, _, secret = (
        base64.b64decode(credentials["header"]["Authorization"].removeprefix("Basic ")).decode().partition(":")
    )
    return name, secret


def _user_with_key(api: Api, make: Make, keys: Callable[[], tuple[str, Path]]) -> tuple[User, Path, int]:
    person = make.user()
    line, key = keys()
    added = api.post("/user/keys", person, title="laptop", key=line)
    return person, key, added.json()["id"]


def test_a_user_continues_over_http(
    instance: Instance, api: Api, make: Make, lfs: LfsClient, keys: Callable[[], tuple[str, Path]]
) -> None:
    owner, key, _ = _user_with_key(api, make, keys)
    project = make_project(make, owner, visibility="private")
    credentials = _credentials(instance, key, project, "upload")
    assert credentials["href"] == f"{instance.url}/{project.path}.git/info/lfs"
    assert credentials["expires_in"] == 1800
    assert _identity(credentials)[0] == owner.username
    content = b"brought with a key"
    lfs.upload(project, _identity(credentials), content)
    lock = lfs.json(project, "info/lfs/locks", _identity(credentials), path="file").json()["lock"]
    assert lock["owner"]["name"] == owner.username
    down = _identity(_credentials(instance, key, project, "download"))
    assert lfs.get(project, down, content).content == content
    refused = lfs.batch(project, down, "upload", content)
    assert refused.status_code == 403


def test_a_token_is_valid_for_nothing_else(
    instance: Instance, api: Api, make: Make, lfs: LfsClient, keys: Callable[[], tuple[str, Path]]
) -> None:
    """Attack: use the token in another project, for git itself, for the API, altered, or after its expiry."""
    owner, key, _ = _user_with_key(api, make, keys)
    project, other = (make_project(make, owner, visibility="private") for _ in range(2))
    name, token = _identity(_credentials(instance, key, project, "upload"))
    content = b"x"
    assert lfs.batch(project, (name, token), "upload", content).status_code == 200
    assert lfs.batch(other, (name, token), "upload", content).status_code == 404
    refs = lfs.call("GET", project, "info/refs?service=git-upload-pack", (name, token))
    assert refs.status_code == 401
    assert api.get("/user", owner.with_token(token)).status_code == 401
    body, _, signature = token.partition(".")
    prefix, written = body[:7], body[7:]
    decoded = base64.urlsafe_b64decode(written + "==").decode()
    forged = base64.urlsafe_b64encode(decoded.replace(f",{project.id},", f",{other.id},").encode()).decode().rstrip("=")
    assert decoded.count(f",{project.id},") == 1
    for bad in (
        f"{prefix}{forged}.{signature}",
        f"{body}.",
        body,
        f"{body}.{'0' * 64}",
        prefix,
        f"{prefix}é.ü",
        f"{prefix}..",
    ):
        assert lfs.batch(other, (name, bad), "upload", content).status_code == 401
    clock = instance.app.database.clock
    now = clock()
    instance.app.database.clock = lambda: add_duration(now, seconds=1801)
    try:
        assert lfs.batch(project, (name, token), "upload", content).status_code == 401
    finally:
        instance.app.database.clock = clock
    assert token not in instance.log.getvalue()


def test_a_token_ends_with_its_key_and_its_user(
    instance: Instance, api: Api, make: Make, lfs: LfsClient, keys: Callable[[], tuple[str, Path]]
) -> None:
    """Attack: use the token after the key is removed, the membership ended, or the user was blocked."""
    owner = make.user()
    person, key, key_id = _user_with_key(api, make, keys)
    project = make_project(make, owner, visibility="private", members={person: Level.DEVELOPER})
    content = b"x"
    lfs.upload(project, owner, content)
    who = _identity(_credentials(instance, key, project, "upload"))
    assert lfs.get(project, who, content).status_code == 200
    api.put(f"/projects/{project.id}/members/{person.id}", owner, access_level=20)
    assert lfs.batch(project, who, "upload", content).status_code == 403
    api.delete(f"/projects/{project.id}/members/{person.id}", owner)
    assert lfs.get(project, who, content).status_code == 404
    api.post(f"/users/{person.id}/block", make.root)
    assert lfs.get(project, who, content).status_code == 401
    api.post(f"/users/{person.id}/unblock", make.root)
    assert lfs.get(project, who, content).status_code == 404
    api.delete(f"/users/{person.id}/keys/{key_id}", make.root)
    assert lfs.get(project, who, content).status_code == 401


def test_a_deploy_key_reads_and_writes_as_permitted(
    instance: Instance, api: Api, make: Make, lfs: LfsClient, keys: Callable[[], tuple[str, Path]]
) -> None:
    owner = make.user()
    project, other = (make_project(make, owner, visibility="private") for _ in range(2))
    line, key = keys()
    added = api.post(f"/projects/{project.id}/deploy_keys", owner, title="robot", key=line, can_push=True).json()
    where = f"/projects/{project.id}/deploy_keys/{added['id']}"
    content = b"of a machine"
    up = _identity(_credentials(instance, key, project, "upload"))
    assert up[0] == f"deploy-key-{added['id']}"
    lfs.upload(project, up, content)
    lock = lfs.json(project, "info/lfs/locks", up, path="file").json()["lock"]
    assert lock["owner"]["name"] == owner.username
    assert lfs.json(project, "info/lfs/locks/verify", owner).json()["ours"] == [lock]
    api.put(where, owner, can_push=False)
    assert lfs.batch(project, up, "upload", b"more").status_code == 403
    refused = _authenticate(instance, key, "git-lfs-authenticate", project.path, "upload")
    assert (refused.returncode, "write access" in refused.stderr, refused.stdout) == (128, True, "")
    down = _identity(_credentials(instance, key, project, "download"))
    assert lfs.get(project, down, content).content == content
    assert "could not be found" in _authenticate(instance, key, "git-lfs-authenticate", other.path, "download").stderr
    api.delete(where, owner)
    assert lfs.get(project, down, content).status_code == 401


def test_no_command_is_executed(instance: Instance, api: Api, make: Make, keys: Callable[[], tuple[str, Path]]) -> None:
    """Attack: add arguments, shell characters, or another operation to the command."""
    owner, key, _ = _user_with_key(api, make, keys)
    project = make_project(make, owner)
    for words in (
        [project.path],
        [project.path, "remove"],
        [project.path, "download", "more"],
        [project.path, "'download; id'"],
        [f"'{project.path}.git;id'", "download"],
        ["--help", "download"],
        ["''", "download"],
        ["../../etc/passwd", "download"],
    ):
        answer = _authenticate(instance, key, "git-lfs-authenticate", *words)
        assert (answer.returncode, answer.stdout) == (128, ""), words
    api.put(f"/projects/{project.id}", owner, lfs_enabled=False)
    off = _authenticate(instance, key, "git-lfs-authenticate", project.path, "download")
    assert (off.returncode, "not enabled" in off.stderr) == (128, True)
