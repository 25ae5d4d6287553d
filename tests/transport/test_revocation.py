"""Revoked access ends at once: for the next command, and for a running push."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History, repository_of, run
from tests.server.process import until
from tests.transport.conftest import BASE, Tree, over_http
from tests.transport.test_workflows import recorded
from tests.transport.wire import ZERO, advertised, auth_of, connected, exchange, key_of, packet

Give = Callable[..., dict[str, str]]


@dataclass
class RevocationSetup:
    """Developer of a private project, and revocable access."""

    api: Api
    make: Make
    owner: User
    developer: User
    project: Project

    def revoke(self, what: str) -> None:
        """Revoke it."""
        api, root, project, developer = self.api, self.make.root, self.project, self.developer
        if what == "membership":
            done = api.delete(f"/projects/{project.id}/members/{developer.id}", self.owner)
        elif what == "level":
            done = api.put(f"/projects/{project.id}/members/{developer.id}", self.owner, access_level=10)
        elif what == "token":
            done = api.delete("/personal_access_tokens/self", developer)
        elif what == "user":
            done = api.post(f"/users/{developer.id}/block", root)
        elif what == "key":
            (key,) = api.get(f"/users/{developer.id}/keys", root).json()
            done = api.delete(f"/user/keys/{key['id']}", developer)
        elif what == "archived":
            done = api.post(f"/projects/{project.id}/archive", self.owner)
        else:
            done = api.delete(f"/projects/{project.id}", self.owner)
        assert done.status_code in (200, 201, 202, 204), done.text


@pytest.fixture
def setup(instance: Instance, api: Api, make: Make) -> RevocationSetup:
    owner, developer = make.user(), make.user()
    project = make_project(make, owner, visibility="private", members={developer: Level.DEVELOPER})
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, project)
    return RevocationSetup(api, make, owner, developer, project)


# Revoked access, and the responses to a clone and a push afterwards.
REVOCATIONS = {
    "membership": (404, 404),
    "level": (403, 403),
    "token": (401, 401),
    "user": (401, 401),
    "archived": (200, 403),
    "project": (404, 404),
}


@pytest.mark.parametrize("what", REVOCATIONS)
def test_the_next_request_is_denied(instance: Instance, setup: RevocationSetup, what: str) -> None:
    path, auth = f"{setup.project.path}.git", auth_of(setup.developer)

    def responses() -> tuple[int, ...]:
        return tuple(advertised(instance, path, service, auth).status_code for service in ("upload", "receive"))

    assert responses() == (200, 200)
    setup.revoke(what)
    assert responses() == REVOCATIONS[what]
    body = exchange(instance, path, "receive", b"0000", auth)
    assert body.status_code == REVOCATIONS[what][1], "despite earlier requests"


def test_a_project_made_private(instance: Instance, setup: RevocationSetup) -> None:
    path, stranger = f"{setup.project.path}.git", setup.make.user()
    for visibility, seen in (("public", (200, 200)), ("internal", (401, 200)), ("private", (401, 404))):
        done = setup.api.put(f"/projects/{setup.project.id}", setup.owner, visibility=visibility)
        assert done.status_code == 200
        answers = [advertised(instance, path, "upload", auth).status_code for auth in (None, auth_of(stranger))]
        assert tuple(answers) == seen


SSH_MESSAGES = {
    "membership": "could not be found",
    "level": "not allowed to download",
    "user": "has been revoked",
    "key": "has been revoked",
    "project": "could not be found",
}


@pytest.mark.parametrize("what", SSH_MESSAGES)
def test_the_next_command_of_an_open_connection_is_denied(
    instance: Instance, setup: RevocationSetup, ssh_key: Give, tmp_path: Path, what: str
) -> None:
    with connected(instance, key_of(ssh_key(setup.developer)), tmp_path) as connection:
        command = f"git-upload-pack '{setup.project.path}.git'"
        assert connection.run(command, b"0000").status == 0
        setup.revoke(what)
        said = connection.run(command, b"0000")
        assert (said.status, said.out) == (128, b"")
        assert SSH_MESSAGES[what] in said.err
        if what in ("user", "key"):
            assert connection.run("").status != 0, "no greeting message"


REF_CHECK_MESSAGES = {
    "membership": "could not be found",
    "level": "not allowed to push",
    "token": "has been revoked",
    "user": "has been revoked",
    "archived": "archived",
}


def push_of(tree: Tree, ref: str) -> tuple[bytes, bytes]:
    """Return a push as sent by git: its commands, and its pack."""
    tip = tree.commit("large", "line\n" * 50_000)
    objects = tree.git("rev-list", "--objects", tip)
    pack = subprocess.run(
        ["git", "pack-objects", "--stdout", "-q"],
        cwd=tree.folder,
        env=BASE,
        input="".join(line.split()[0] + "\n" for line in objects.splitlines()).encode(),
        capture_output=True,
        check=True,
    ).stdout
    return packet(f"{ZERO} {tip} {ref}\0report-status side-band-64k") + b"0000", pack


@pytest.mark.parametrize("what", REF_CHECK_MESSAGES)
def test_a_push_during_the_revocation(instance: Instance, setup: RevocationSetup, tree: Tree, what: str) -> None:
    """It began with permission, and is rejected by the ref checks; nothing is changed or recorded."""
    commands, pack = push_of(tree, "refs/heads/topic")
    half = len(pack) // 2
    repository = repository_of(instance, setup.project)

    def body() -> object:
        yield commands + pack[:half]
        # git creates its quarantine after the server has admitted the request; before that, all of it is rejected.
        until("the quarantine of the push", lambda: list(repository.path.glob("objects/*incoming-*")))
        setup.revoke(what)
        yield pack[half:]

    answer = exchange(instance, f"{setup.project.path}.git", "receive", body(), auth_of(setup.developer))
    assert answer.status_code == 200
    assert REF_CHECK_MESSAGES[what] in answer.text
    assert "pre-receive hook declined" in answer.text
    assert repository.tip("refs/heads/topic") is None
    assert recorded(instance, setup.project) == []
    assert not list(repository.path.glob("objects/*incoming-*"))
    assert run(repository.path, "fsck", "--strict") == ""


@pytest.mark.parametrize("what", ["key", "membership"])
def test_a_push_over_ssh_during_the_revocation(
    instance: Instance, setup: RevocationSetup, tree: Tree, ssh_key: Give, tmp_path: Path, what: str
) -> None:
    commands, pack = push_of(tree, "refs/heads/topic")
    with connected(instance, key_of(ssh_key(setup.developer)), tmp_path) as connection:
        process = connection.popen(f"git-receive-pack '{setup.project.path}.git'")
        assert process.stdin is not None
        process.stdin.write(commands + pack[: len(pack) // 2])
        process.stdin.flush()
        assert process.stdout is not None
        assert b"refs/heads/master" in process.stdout.read(100), "it has begun"
        setup.revoke(what)
        out, _ = process.communicate(pack[len(pack) // 2 :], timeout=60)
    assert b"has been revoked" in out or b"could not be found" in out
    assert repository_of(instance, setup.project).tip("refs/heads/topic") is None
    assert recorded(instance, setup.project) == []


def test_protection_is_checked_at_the_end_of_a_push(instance: Instance, setup: RevocationSetup, tree: Tree) -> None:
    """A branch that becomes protected during a push does not move."""
    tree.git("fetch", "-q", over_http(instance, setup.project, setup.developer), "master")
    commands, pack = push_of(tree, "refs/heads/topic")

    def body() -> object:
        yield commands + pack[:100]
        done = setup.api.post(f"/projects/{setup.project.id}/protected_branches", setup.owner, name="top*")
        assert done.status_code == 201, done.text
        yield pack[100:]

    answer = exchange(instance, f"{setup.project.path}.git", "receive", body(), auth_of(setup.developer))
    assert "You are not allowed to push code to protected branches" in answer.text
    assert repository_of(instance, setup.project).tip("refs/heads/topic") is None
