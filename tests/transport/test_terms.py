"""Terms of service, which users must accept before they use git with a key or a password."""

from collections.abc import Callable

from ingot.core.access.levels import Level
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, make_project
from tests.transport.conftest import Tree, over_ssh


def test_git_over_ssh(instance: Instance, make: Make, tree: Tree, ssh_key: Callable[[User], dict[str, str]]) -> None:
    person = make.user()
    project = make_project(make, members={person: Level.DEVELOPER}, visibility="private", initialize_with_readme=True)
    tree.env = ssh_key(person)
    with changed_settings(make, terms="Be kind.", enforce_terms=True):
        assert "Terms of Service" in tree.git("ls-remote", over_ssh(instance, project), fails=True)
    assert "refs/heads/" in tree.git("ls-remote", over_ssh(instance, project))
