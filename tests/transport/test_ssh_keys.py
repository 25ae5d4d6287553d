"""Host keys of the server, and types of user keys."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ingot.transport.host_keys import KEY_TYPES, host_keys
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, make_project
from tests.transport.conftest import Tree, over_ssh

Give = Callable[..., dict[str, str]]


def test_host_keys_are_created_once(tmp_path: Path) -> None:
    """Readable by the owner only; a second or concurrent start uses existing ones."""
    (tmp_path / "secrets").mkdir()
    made = host_keys(tmp_path)
    content = [path.read_bytes() for path in made]
    assert len(made) == len(KEY_TYPES)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in made)
    assert [path.read_bytes() for path in host_keys(tmp_path)] == content
    made[0].unlink()
    again = [path.read_bytes() for path in host_keys(tmp_path)]
    assert again[0] != content[0]
    assert again[1:] == content[1:]
    assert sorted(path.name for path in (tmp_path / "secrets").iterdir()) == sorted(path.name for path in made)


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_every_type_of_key_is_accepted(instance: Instance, make: Make, tree: Tree, ssh_key: Give, kind: str) -> None:
    owner = make.user()
    project = make_project(make, owner)
    tree.env = ssh_key(owner, kind)
    tip = tree.commit()
    tree.git("push", "-q", over_ssh(instance, project), "master")
    assert tree.git("ls-remote", over_ssh(instance, project), "refs/heads/master").split()[0] == tip


def test_existing_keys_of_a_forbidden_type_are_refused(
    instance: Instance, api: Api, make: Make, tree: Tree, ssh_key: Give
) -> None:
    owner = make.user()
    url = over_ssh(instance, make_project(make, owner))
    tree.env = ssh_key(owner, "ed25519")
    assert tree.git("ls-remote", url) == ""
    with changed_settings(make, ed25519_key_restriction=-1):
        assert "correct access rights" in tree.git("ls-remote", url, fails=True)
    assert tree.git("ls-remote", url) == ""
