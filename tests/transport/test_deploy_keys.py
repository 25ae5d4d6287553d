"""Deploy keys over SSH: access to their projects only, and immediate revocation."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from sqlalchemy import bindparam, select

from ingot.repositories.ref_changes.tables import ref_changes
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History
from tests.transport.conftest import BASE, Tree, over_ssh, ssh_command

_ACTORS = select(ref_changes.c.actor_id).where(ref_changes.c.project_id == bindparam("project"))
Machine = tuple[str, dict[str, str]]


@pytest.fixture
def machine(tmp_path: Path) -> Callable[[], Machine]:
    """Return a function that creates a key: its public line, and the environment in which git uses it."""

    def make_one() -> Machine:
        key = tmp_path / f"machine-{len(list(tmp_path.iterdir()))}"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        return Path(f"{key}.pub").read_text(), {"GIT_SSH_COMMAND": ssh_command(key)}

    return make_one


def _let_in(api: Api, person: User, project: Project, line: str, **attributes: Any) -> str:
    added = api.post(f"/projects/{project.id}/deploy_keys", person, title="robot", key=line, **attributes)
    assert added.status_code == 201, added.text
    return f"/projects/{project.id}/deploy_keys/{added.json()['id']}"


def _ssh(instance: Instance, env: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    words = [*env["GIT_SSH_COMMAND"].split(), "-T", "-p", str(instance.settings.ssh_port), "git@127.0.0.1", *command]
    return subprocess.run(words, env=BASE, capture_output=True, text=True, check=False)


def _filled(instance: Instance, make: Make, owner: User, **attributes: Any) -> Project:
    project = make_project(make, owner, **attributes)
    history = History()
    history.commit(files={"README": "hello\n"})
    history.fill(instance, project)
    return project


def _actors(instance: Instance, project: Project) -> list[int | None]:
    return [row[0] for row in instance.app.database.read(lambda db: db.rows(_ACTORS, project=project.id))]


def test_a_key_reads_its_projects_only(
    instance: Instance, api: Api, make: Make, tree: Tree, machine: Callable[[], Machine]
) -> None:
    """Attack: use the key of one project for others; their existence is not revealed."""
    owner = make.user()
    project = _filled(instance, make, owner, visibility="private")
    hidden = _filled(instance, make, owner, visibility="private")
    internal = _filled(instance, make, owner, visibility="internal")
    public = _filled(instance, make, owner, visibility="public")
    line, tree.env = machine()
    tree.git("ls-remote", over_ssh(instance, project), fails=True)
    _let_in(api, owner, project, line)
    assert "refs/heads/master" in tree.git("ls-remote", over_ssh(instance, project))
    assert "refs/heads/master" in tree.git("ls-remote", over_ssh(instance, public))
    for other in (hidden, internal, "no/such-project", str(hidden.id)):
        assert "could not be found" in tree.git("ls-remote", over_ssh(instance, other), fails=True)
    tree.commit()
    for place in (project, public):
        said = tree.git("push", over_ssh(instance, place), "master:topic", fails=True)
        assert "This deploy key does not have write access to this project." in said
    assert "Welcome to Ingot, deploy key" in _ssh(instance, tree.env).stdout
    assert _ssh(instance, tree.env, "id").returncode == 128


def _name_in_rule(api: Api, person: User, project: Project, key: str, rule: str = "master") -> None:
    entry = {"deploy_key_id": int(key.rpartition("/")[2])}
    sent = {"allowed_to_push": [entry]}
    named = api.request("PATCH", f"{project.url}/protected_branches/{rule}", person, json=sent)
    assert named.status_code == 200, named.text


def test_a_key_with_push_access_passes_the_ref_checks(
    instance: Instance, api: Api, make: Make, tree: Tree, machine: Callable[[], Machine]
) -> None:
    """Protection rules hold for a key, and its pushes are recorded for its creator and for the key."""
    owner, master = make.user(), make.user()
    project = make_project(make, owner, visibility="private", members={master: 40})
    other = make_project(make, owner, visibility="private")
    line, tree.env = machine()
    key = _let_in(api, master, project, line, can_push=True)
    _name_in_rule(api, owner, project, key)
    _let_in(api, owner, other, line)
    first = tree.commit()
    tree.git("push", "-q", over_ssh(instance, project), "master")
    tree.commit(content="two\n")
    tree.git("push", "-q", over_ssh(instance, project), "master", "master:topic")
    for refused in (f"+{first}:master", ":master"):
        tree.git("push", over_ssh(instance, project), refused, fails=True)
    assert _actors(instance, project) == [master.id] * 3
    pushes = api.get(f"{project.url}/events?action=pushed", owner).json()
    assert [push["push_data"]["deploy_key_id"] for push in pushes] == [int(key.rpartition("/")[2])] * 3
    assert {push["author_id"] for push in pushes} == {master.id}
    said = tree.git("push", over_ssh(instance, other), "master", fails=True)
    assert "does not have write access" in said
    api.post(f"/projects/{project.id}/archive", owner)
    assert "archived" in tree.git("push", over_ssh(instance, project), "master:more", fails=True)


def test_an_administrators_key_has_no_administrator_rights(
    instance: Instance, api: Api, make: Make, tree: Tree, machine: Callable[[], Machine]
) -> None:
    """Attack: use a deploy key created by an administrator for administrator access."""
    owner = make.user()
    project = make_project(make, owner, visibility="private")
    hidden = make_project(make, owner, visibility="private")
    line, tree.env = machine()
    key = _let_in(api, make.root, project, line, can_push=True)
    _name_in_rule(api, owner, project, key)
    tree.commit()
    tree.git("push", "-q", over_ssh(instance, project), "master")
    rule = {"name": "sealed", "push_access_level": 0, "merge_access_level": 0}
    assert api.post(f"/projects/{project.id}/protected_branches", owner, **rule).status_code == 201
    assert "protected" in tree.git("push", over_ssh(instance, project), "master:sealed", fails=True)
    tree.git("push", over_ssh(instance, hidden), "master", fails=True)
    tree.git("ls-remote", over_ssh(instance, hidden), fails=True)
    assert _actors(instance, project) == [make.root.id]


def test_withdrawn_access_ends_at_once(
    instance: Instance, api: Api, make: Make, tree: Tree, machine: Callable[[], Machine]
) -> None:
    """Attack: use a key after it was restricted, removed, or has expired."""
    owner = make.user()
    project = _filled(instance, make, owner, visibility="private")
    url = over_ssh(instance, project)
    line, tree.env = machine()
    key = _let_in(api, owner, project, line, can_push=True)
    tree.git("fetch", "-q", url, "master")
    tree.git("reset", "-q", "--hard", "FETCH_HEAD")
    tree.commit("more")
    tree.git("push", "-q", url, "master:topic")
    api.put(key, owner, can_push=False)
    tree.git("push", url, "master:other", fails=True)
    assert tree.git("ls-remote", url)
    assert api.delete(key, owner).status_code == 200
    tree.git("ls-remote", url, fails=True)

    old, tree.env = machine()
    _let_in(api, owner, project, old, expires_at="2001-01-01")
    tree.git("ls-remote", url, fails=True)

    again, tree.env = machine()
    _let_in(api, owner, project, again)
    assert tree.git("ls-remote", url)
    assert api.delete(f"/projects/{project.id}", owner).status_code == 200
    tree.git("ls-remote", url, fails=True)


def test_the_last_use_is_recorded(
    instance: Instance, api: Api, make: Make, tree: Tree, machine: Callable[[], Machine]
) -> None:
    """By a job, and not as activity of a user."""
    owner = make.user()
    project = _filled(instance, make, owner, visibility="private")
    line, tree.env = machine()
    key = _let_in(api, owner, project, line)
    assert api.get(key, owner).json()["last_used_at"] is None
    seen = api.get(f"/users/{owner.id}", make.root).json()["last_activity_on"]
    until = monotonic() + 60
    while api.get(key, owner).json()["last_used_at"] is None and monotonic() < until:
        tree.git("ls-remote", over_ssh(instance, project))
    assert api.get(key, owner).json()["last_used_at"] is not None
    assert api.get(f"/users/{owner.id}", make.root).json()["last_activity_on"] == seen
