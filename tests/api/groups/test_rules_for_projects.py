"""Rules of groups for the projects and subgroups below them."""

import subprocess
from urllib.parse import urlsplit

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, make_group, make_project, share


@pytest.fixture
def owner(make: Make) -> User:
    """Return the owner of the group."""
    return make.user()


@pytest.fixture
def group(make: Make, owner: User) -> Group:
    """Return a top-level group."""
    return make_group(make, owner)


@pytest.fixture
def below(make: Make, owner: User, group: Group) -> Project:
    """Return a project in a subgroup."""
    return make_project(make, owner, group=make_group(make, owner, parent=group))


def test_locked_memberships(api: Api, make: Make, owner: User, group: Group, below: Project) -> None:
    person, applicant = make.user(), make.user()
    api.put(below.url, owner, visibility="private", request_access_enabled=True)
    api.put(group.url, owner, membership_lock=True)
    member = {"user_id": person.id, "access_level": 30}
    assert api.post(f"{below.url}/members", owner, **member).status_code == 403
    invited = {"email": "new@example.org", "access_level": 30}
    assert api.post(f"{below.url}/invitations", owner, **invited).status_code == 403
    assert api.post(f"{group.url}/members", owner, **member).status_code == 201
    assert api.get(below.url, person).status_code == 200
    api.put(group.url, owner, membership_lock=False)
    assert api.post(f"{below.url}/members", owner, user_id=applicant.id, access_level=30).status_code == 201


def test_sharing_within_the_hierarchy(api: Api, make: Make, owner: User, group: Group, below: Project) -> None:
    elsewhere, within = make_group(make, owner), make_group(make, owner, parent=group)
    assert api.put(group.url, owner, prevent_sharing_groups_outside_hierarchy=True).status_code == 200
    for url in (below.url, within.url):
        refused = api.post(f"{url}/share", owner, group_id=elsewhere.id, group_access=30)
        assert refused.status_code == 404
    share(make, below, within, Level.DEVELOPER)
    refused = api.put(within.url, owner, prevent_sharing_groups_outside_hierarchy=True)
    assert list(refused.json()["message"]) == ["prevent_sharing_groups_outside_hierarchy"]
    api.put(group.url, owner, prevent_sharing_groups_outside_hierarchy=False)
    assert api.post(f"{below.url}/share", owner, group_id=elsewhere.id, group_access=30).status_code == 201


def test_shared_runners_of_groups(api: Api, make: Make, owner: User, group: Group, below: Project) -> None:
    name = "shared_runners_setting"
    assert api.get(below.url, owner).json()["shared_runners_enabled"] is True
    assert api.put(group.url, owner, **{name: "disabled_and_overridable"}).json()[name] == "disabled_and_overridable"
    assert api.get(below.url, owner).json()["shared_runners_enabled"] is False
    fresh = make_project(make, owner, group=group)
    assert api.get(fresh.url, owner).json()["shared_runners_enabled"] is False
    assert api.put(below.url, owner, shared_runners_enabled=True).json()["shared_runners_enabled"] is True

    api.put(group.url, owner, **{name: "disabled_and_unoverridable"})
    assert api.get(below.url, owner).json()["shared_runners_enabled"] is False
    refused = api.put(below.url, owner, shared_runners_enabled=True)
    reason = "cannot be enabled because parent group does not allow it"
    assert (refused.status_code, refused.json()["message"]) == (400, {"shared_runners_enabled": [reason]})
    created = {"name": "x", "namespace_id": group.id, "shared_runners_enabled": True}
    assert api.post("/projects", owner, **created).status_code == 400
    within = {"name": "sub", "path": make.name("sub"), "parent_id": group.id}
    subgroup = api.post("/groups", owner, **within).json()
    assert api.put(f"/groups/{subgroup['id']}", owner, **{name: "disabled_and_overridable"}).status_code == 400
    moved = make_project(make, owner)
    assert api.put(f"{moved.url}/transfer", owner, namespace=group.id).json()["shared_runners_enabled"] is False
    assert api.put(group.url, owner, **{name: "enabled"}).status_code == 200
    assert api.put(below.url, owner, shared_runners_enabled=True).json()["shared_runners_enabled"] is True


def test_shared_runners_of_subgroups_follow(api: Api, make: Make, owner: User, group: Group) -> None:
    name, strict, loose = "shared_runners_setting", "disabled_and_unoverridable", "disabled_and_overridable"
    middle = make_group(make, owner, parent=group)
    below = make_group(make, owner, parent=middle)
    project = make_project(make, owner, group=below)

    def settings() -> list[object]:
        shown = [api.get(each.url, owner).json()[name] for each in (group, middle, below)]
        return [*shown, api.get(project.url, owner).json()["shared_runners_enabled"]]

    api.put(group.url, owner, **{name: loose})
    assert settings() == [loose, loose, loose, False]
    assert api.put(below.url, owner, **{name: "enabled"}).json()[name] == "enabled"
    assert settings() == [loose, loose, "enabled", True]
    api.put(group.url, owner, **{name: strict})
    assert settings() == [strict, strict, strict, False]
    name_of_new = make.name()
    new = {"name": name_of_new, "path": name_of_new, "parent_id": middle.id}
    assert api.post("/groups", owner, **new, **{name: "enabled"}).status_code == 400
    assert api.post("/groups", owner, **new).json()[name] == strict
    refused = api.put(below.url, owner, **{name: "enabled"})
    assert (refused.status_code, list(refused.json()["message"])) == (400, [name])
    assert api.get(make_group(make, owner, parent=below).url, owner).json()[name] == strict
    api.put(group.url, owner, **{name: loose})
    assert settings() == [loose, strict, strict, False]
    api.put(group.url, owner, **{name: "enabled"})
    assert settings() == ["enabled", "enabled", "enabled", True]

    api.put(group.url, owner, **{name: strict})
    moved = make_group(make, owner)
    inner = make_project(make, owner, group=moved)
    api.post(f"{moved.url}/transfer", owner, group_id=group.id)
    assert api.get(moved.url, owner).json()[name] == strict
    assert api.get(inner.url, owner).json()["shared_runners_enabled"] is False


def test_default_branch_of_groups(api: Api, make: Make, owner: User, group: Group) -> None:
    subgroup = make_group(make, owner, parent=group)
    assert api.put(group.url, owner, default_branch="trunk").json()["default_branch"] == "trunk"
    for namespace in (group, subgroup):
        project = make_project(make, owner, group=namespace, initialize_with_readme=True)
        assert api.get(project.url, owner).json()["default_branch"] == "trunk"
    api.put(subgroup.url, owner, default_branch="work")
    named = make_project(make, owner, group=subgroup, initialize_with_readme=True)
    assert api.get(named.url, owner).json()["default_branch"] == "work"
    assert api.put(group.url, owner, default_branch="a..b").status_code == 400
    api.put(group.url, owner, default_branch="")
    plain = make_project(make, owner, group=group, initialize_with_readme=True)
    assert api.get(plain.url, owner).json()["default_branch"] == "master"


def test_git_protocol_of_groups(api: Api, owner: User, group: Group, below: Project, instance: Instance) -> None:
    url = f"http://x:{owner.token}@{urlsplit(instance.url).netloc}/{below.path}.git"

    def listed() -> int:
        return subprocess.run(["git", "ls-remote", url], capture_output=True, check=False).returncode

    assert listed() == 0
    api.put(group.url, owner, enabled_git_access_protocol="ssh")
    assert listed() != 0
    api.put(group.url, owner, enabled_git_access_protocol="all")
    assert listed() == 0


def test_forks_within_the_group(api: Api, make: Make, owner: User, group: Group, below: Project) -> None:
    elsewhere, within = make_group(make, owner), make_group(make, owner, parent=group)
    assert api.put(group.url, owner, prevent_forking_outside_group=True).json()["prevent_forking_outside_group"] is True
    for caller in (owner, make.root):
        for target in ({}, {"namespace_id": elsewhere.id}):
            refused = api.post(f"{below.url}/fork", caller, **target, path=make.name())
            assert (refused.status_code, refused.json()["message"]) == (
                403,
                "403 Forbidden - The group does not allow forking its projects outside of it",
            ), target
    for namespace in (group, within):
        named = {"namespace_id": namespace.id, "path": make.name(), "name": make.name()}
        assert api.post(f"{below.url}/fork", owner, **named).status_code == 201
    other = make_project(make, owner, group=elsewhere)
    assert api.post(f"{other.url}/fork", owner).status_code == 201
    refused = api.put(within.url, owner, prevent_forking_outside_group=True)
    assert list(refused.json()["message"]) == ["prevent_forking_outside_group"]
    api.put(group.url, owner, prevent_forking_outside_group=False)
    assert api.post(f"{below.url}/fork", owner).status_code == 201
