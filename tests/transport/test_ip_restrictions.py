"""Git access to groups that are restricted to addresses; tests come from 127.0.0.1."""

from collections.abc import Callable

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.transport.conftest import GitRemote, Tree, over_http


def test_repositories_are_closed_to_other_addresses(
    api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner, member = make.user(), make.user()
    group = make_group(make, owner, visibility="public")
    project: Project = make_project(
        make, owner, group=group, members={member: 40}, visibility="public", initialize_with_readme=True
    )
    remote = git_remote(member)
    tree.env = remote.env
    url = remote.url(project)
    assert "refs/heads" in tree.git("ls-remote", url)
    tree.git("fetch", "-q", url, "HEAD:local")
    tree.git("push", "-q", url, "local:first")
    for ranges, closed in (("192.0.2.0/24", True), ("127.0.0.0/8", False), ("", False)):
        assert api.put(group.url, owner, ip_restriction_ranges=ranges).status_code == 200
        if closed:
            assert "found" in tree.git("ls-remote", url, fails=True)
            assert "found" in tree.git("push", url, "local:second", fails=True)
        else:
            tree.git("push", "-q", url, f"local:second{len(ranges)}")


def test_readers_without_an_account_and_administrators(api: Api, make: Make, tree: Tree, instance: Instance) -> None:
    owner, admin = make.user(), make.user(admin=True)
    group = make_group(make, owner, visibility="public")
    project = make_project(make, owner, group=group, visibility="public", initialize_with_readme=True)
    assert api.put(group.url, owner, ip_restriction_ranges="192.0.2.0/24").status_code == 200
    assert tree.git("ls-remote", f"{instance.url}/{project.path}.git", fails=True)
    assert tree.git("ls-remote", over_http(instance, project, owner), fails=True)
    assert "refs/heads" in tree.git("ls-remote", over_http(instance, project, admin))
    assert api.put(group.url, owner, ip_restriction_ranges="").status_code == 200
    assert "refs/heads" in tree.git("ls-remote", over_http(instance, project, owner))
