"""Deploy keys with write access: the creator's permission, and the protected branches that name the key."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History, repository_of
from tests.transport.conftest import Tree, over_ssh, ssh_command

NO_CREATOR = "the user who added it to the project is blocked or lacks the role Developer"
NOT_NAMED = "This deploy key is not allowed to push code to this protected branch."


class KeyedProject:
    """Private project with a write deploy key that a master has added."""

    def __init__(self, instance: Instance, api: Api, make: Make, tree: Tree, folder: Path) -> None:
        self.api, self.tree = api, tree
        self.owner, self.creator = make.user(), make.user()
        self.project = make_project(make, self.owner, visibility="private", members={self.creator: 40})
        history = History()
        history.commit(files={"README": "hello\n"})
        history.fill(instance, self.project)
        key = folder / "deploy"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        tree.env = {"GIT_SSH_COMMAND": ssh_command(key)}
        self.line = Path(f"{key}.pub").read_text()
        self.key_id = self.add(self.creator)
        self.url = over_ssh(instance, self.project)
        tree.git("fetch", "-q", self.url, "master")
        tree.git("reset", "-q", "--hard", "FETCH_HEAD")
        tree.commit("more")

    def add(self, person: User) -> int:
        """Add the key to the project with write access."""
        sent = {"title": "robot", "key": self.line, "can_push": True}
        added = self.api.post(f"{self.project.url}/deploy_keys", person, **sent)
        assert added.status_code == 201, added.text
        key_id: int = added.json()["id"]
        return key_id

    def push(self, branch: str = "topic", refused: str = "") -> None:
        """Push to a branch; ``refused`` is the expected message."""
        said = self.tree.git("push", self.url, f"+HEAD:refs/heads/{branch}", fails=bool(refused))
        assert refused in said

    def allow(self, rule: str, *entries: dict[str, object], status: int = 200) -> dict[str, Any]:
        """Change the deploy keys of a rule."""
        url = f"{self.project.url}/protected_branches/{rule}"
        changed = self.api.request("PATCH", url, self.owner, json={"allowed_to_push": list(entries)})
        assert changed.status_code == status, changed.text
        shown: dict[str, Any] = changed.json()
        return shown


@pytest.fixture
def keyed(instance: Instance, api: Api, make: Make, tree: Tree, tmp_path: Path) -> KeyedProject:
    return KeyedProject(instance, api, make, tree, tmp_path)


def _block(keyed: KeyedProject, make: Make) -> None:
    assert keyed.api.post(f"/users/{keyed.creator.id}/block", make.root).status_code == 201


def _remove(keyed: KeyedProject, _: Make) -> None:
    member = f"{keyed.project.url}/members/{keyed.creator.id}"
    assert keyed.api.delete(member, keyed.owner).status_code == 200


def _demote(keyed: KeyedProject, _: Make) -> None:
    member = f"{keyed.project.url}/members/{keyed.creator.id}"
    assert keyed.api.put(member, keyed.owner, access_level=20).status_code == 200


def _delete(keyed: KeyedProject, make: Make) -> None:
    assert keyed.api.delete(f"/users/{keyed.creator.id}", make.root).status_code in (200, 204)


@pytest.mark.parametrize("lose_access", [_block, _remove, _demote, _delete])
def test_a_key_cannot_push_when_its_creator_could_not(
    keyed: KeyedProject, make: Make, lose_access: Callable[[KeyedProject, Make], None]
) -> None:
    """Attack: keep pushing with a deploy key after its creator was blocked, removed, demoted or deleted."""
    keyed.push()
    lose_access(keyed, make)
    keyed.tree.commit("later")
    keyed.push(refused=NO_CREATOR)
    assert "refs/heads/master" in keyed.tree.git("ls-remote", keyed.url), "the key still belongs to the project"
    assert keyed.api.delete(f"{keyed.project.url}/deploy_keys/{keyed.key_id}", keyed.owner).status_code == 200
    keyed.add(keyed.owner)
    keyed.push()


def test_protected_branches_name_their_deploy_keys(instance: Instance, keyed: KeyedProject) -> None:
    """A key may push to a protected branch only while the rule names it."""
    keyed.push("master", refused=NOT_NAMED)
    shown = keyed.allow("master", {"deploy_key_id": keyed.key_id})
    level, key = shown["push_access_levels"]
    assert (level["access_level"], level["deploy_key_id"]) == (40, None)
    assert (key["deploy_key_id"], key["access_level_description"]) == (keyed.key_id, "robot")
    keyed.push("master")
    assert repository_of(instance, keyed.project).tip("refs/heads/master") == keyed.tree.git("rev-parse", "HEAD")
    keyed.allow("master", {"id": key["id"], "_destroy": True})
    keyed.tree.commit("later")
    keyed.push("master", refused=NOT_NAMED)
    keyed.allow("master", {"deploy_key_id": keyed.key_id})
    keyed.allow("master", {"deploy_key_id": keyed.key_id, "_destroy": True})
    keyed.push("master", refused=NOT_NAMED)


def test_a_rule_for_deploy_keys_only(keyed: KeyedProject) -> None:
    sent = {"name": "release/*", "allowed_to_push": [{"deploy_key_id": keyed.key_id}]}
    made = keyed.api.post(f"{keyed.project.url}/protected_branches", keyed.owner, **sent)
    assert made.status_code == 201, made.text
    assert [level["access_level"] for level in made.json()["push_access_levels"]] == [0, 40]
    keyed.push("release/1")


def test_a_removed_key_leaves_the_rules(keyed: KeyedProject) -> None:
    """Adding the key again does not restore its permission."""
    keyed.allow("master", {"deploy_key_id": keyed.key_id})
    assert keyed.api.delete(f"{keyed.project.url}/deploy_keys/{keyed.key_id}", keyed.owner).status_code == 200
    rule = keyed.api.get(f"{keyed.project.url}/protected_branches/master", keyed.owner).json()
    assert len(rule["push_access_levels"]) == 1
    keyed.add(keyed.creator)
    keyed.push("master", refused=NOT_NAMED)


def test_only_write_keys_of_the_project_can_be_named(
    instance: Instance, api: Api, make: Make, keyed: KeyedProject
) -> None:
    other: Project = make_project(make, keyed.owner, visibility="private")
    rule = f"{other.url}/protected_branches/master"
    for key_id in (keyed.key_id, 10**12):
        sent = {"allowed_to_push": [{"deploy_key_id": key_id}]}
        refused = api.request("PATCH", rule, keyed.owner, json=sent)
        assert (refused.status_code, list(refused.json()["message"])) == (400, ["allowed_to_push"])
    api.put(f"{keyed.project.url}/deploy_keys/{keyed.key_id}", keyed.owner, can_push=False)
    keyed.allow("master", {"deploy_key_id": keyed.key_id}, status=400)


def test_the_first_branch_needs_a_rule_too(instance: Instance, keyed: KeyedProject, make: Make) -> None:
    """The branches of an empty project count as protected."""
    keyed.project = make_project(make, keyed.owner, visibility="private", members={keyed.creator: 40})
    keyed.url = over_ssh(instance, keyed.project)
    keyed.add(keyed.creator)
    for branch in ("master", "topic"):
        keyed.push(branch, refused=NOT_NAMED)
    keyed.allow("master", {"deploy_key_id": keyed.key_id})
    keyed.push("master")
    keyed.push("topic")
