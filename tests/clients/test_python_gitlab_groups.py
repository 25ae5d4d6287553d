"""python-gitlab's managers for groups, their members, projects and subgroups, and for namespaces."""

from collections.abc import Iterator

import gitlab
import pytest
from gitlab.exceptions import GitlabCreateError, GitlabDeleteError, GitlabGetError, GitlabListError, GitlabUpdateError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_group, make_project, share


@pytest.fixture
def gl(instance: Instance, make: Make) -> Iterator[gitlab.Gitlab]:
    """Yield the client of the administrator."""
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        yield client


def test_groups_are_created_found_changed_and_deleted(gl: gitlab.Gitlab, make: Make) -> None:
    path = make.name("client")
    group = gl.groups.create({"name": path, "path": path})
    assert gl.groups.get(path).id == group.id
    assert [each.id for each in gl.groups.list(search=path)] == [group.id]
    below = gl.groups.create({"name": "Below", "path": "below", "parent_id": group.id})
    assert gl.groups.get(f"{path}/below").id == below.id

    group.description = "Changed"
    group.save()
    assert gl.groups.get(group.id).description == "Changed"
    with pytest.raises(GitlabUpdateError):
        gl.groups.update(below.id, {"visibility": "public"})
    with pytest.raises(GitlabCreateError) as taken:
        gl.groups.create({"name": path, "path": path})
    assert taken.value.response_code == 400

    group.delete()
    for gone in (group.id, below.id):
        with pytest.raises(GitlabGetError):
            gl.groups.get(gone)


def test_lists(gl: gitlab.Gitlab, instance: Instance, make: Make) -> None:
    user = make.user()
    mine, public = make_group(make, user), make_group(make, visibility="public")
    with gitlab.Gitlab(instance.url, private_token=user.token) as client:
        assert [each.id for each in client.groups.list(get_all=True)] == [mine.id]
        everything = {each.id for each in client.groups.list(all_available=True, iterator=True)}
        assert {mine.id, public.id} <= everything
        assert [each.id for each in client.groups.list(owned=True)] == [mine.id]
        assert mine.id not in {each.id for each in client.groups.list(skip_groups=[mine.id])}
    (counted,) = gl.groups.list(search=mine.path, statistics=True)
    assert counted.statistics["storage_size"] == 0


def test_subgroups_and_projects(gl: gitlab.Gitlab, make: Make) -> None:
    group = make_group(make)
    below = make_group(make, parent=group)
    deep = make_group(make, parent=below)
    here, inside = make_project(make, group=group), make_project(make, group=deep)
    shared = make_project(make)
    share(make, shared, group, 30)
    found = gl.groups.get(group.id)

    assert [each.id for each in found.subgroups.list()] == [below.id]
    assert {each.id for each in found.descendant_groups.list()} == {below.id, deep.id}
    assert {each.id for each in found.projects.list()} == {here.id, shared.id}
    assert [each.id for each in found.projects.list(with_shared=False)] == [here.id]
    within = found.projects.list(with_shared=False, include_subgroups=True)
    assert {each.id for each in within} == {here.id, inside.id}
    assert [each.id for each in found.shared_projects.list()] == [shared.id]
    assert [each["id"] for each in found.attributes["projects"]] == [here.id]


def test_members(gl: gitlab.Gitlab, make: Make) -> None:
    person = make.user()
    group = gl.groups.get(make_group(make).id)
    below = gl.groups.get(make_group(make, parent=make_group_of(make, group.id)).id)

    member = group.members.create({"user_id": person.id, "access_level": gitlab.const.AccessLevel.GUEST})
    member.access_level = gitlab.const.AccessLevel.OWNER
    member.save()
    assert group.members.get(person.id).access_level == 50
    assert below.members_all.get(person.id).access_level == 50
    with pytest.raises(GitlabGetError):
        below.members.get(person.id)
    assert {each.id for each in below.members_all.list(get_all=True)} == {make.root.id, person.id}
    group.members.delete(make.root.id)
    with pytest.raises(GitlabDeleteError) as last:
        group.members.delete(person.id)
    assert last.value.response_code == 403


def make_group_of(make: Make, group_id: int):  # type: ignore[no-untyped-def] # A small adapter for this file.
    """Return the group with this id as a test group."""
    from tests.factories import Group

    shown = make.api.get(f"/groups/{group_id}", make.root).json()
    return Group(shown["id"], shown["full_path"], shown["name"])


def test_transfers(gl: gitlab.Gitlab, make: Make) -> None:
    group, target = gl.groups.get(make_group(make).id), make_group(make)
    project = make_project(make)

    group.transfer(target.id)
    assert gl.groups.get(group.id).parent_id == target.id
    group.transfer()
    assert gl.groups.get(group.id).parent_id is None
    group.transfer_project(project.id)
    assert gl.projects.get(project.id).namespace["id"] == group.id


def test_avatars(gl: gitlab.Gitlab, make: Make) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + b"\0" * 32
    group = gl.groups.get(make_group(make).id)
    group.avatar = picture
    group.save()
    assert gl.groups.get(group.id).avatar_url.endswith("/avatar.png")

    project = gl.projects.get(make_project(make).id)
    project.avatar = picture
    project.save()
    assert gl.projects.get(project.id).avatar_url.endswith("/avatar.png")
    gl.projects.update(project.id, {"avatar": ""})
    assert gl.projects.get(project.id).avatar_url is None


def test_namespaces(gl: gitlab.Gitlab, make: Make) -> None:
    group = make_group(make)

    (found,) = gl.namespaces.list(search=group.path)
    assert (found.id, found.kind, found.members_count_with_descendants) == (group.id, "group", 1)
    assert gl.namespaces.get(group.path).id == group.id
    assert gl.namespaces.exists(group.path).exists is True


def test_shares_with_groups(gl: gitlab.Gitlab, instance: Instance, make: Make) -> None:
    member = make.user()
    invited = make_group(make, members={member: 40})
    group = gl.groups.get(make_group(make).id)
    project = make_project(make, group=make_group_of(make, group.id))

    group.share(invited.id, gitlab.const.AccessLevel.DEVELOPER, expires_at="2999-12-31")

    (shared,) = gl.groups.get(group.id).shared_with_groups
    assert (shared["group_id"], shared["group_access_level"]) == (invited.id, 30)
    with gitlab.Gitlab(instance.url, private_token=member.token) as client:
        assert client.projects.get(project.id).id == project.id
        assert [each.id for each in client.projects.list(membership=True)] == [project.id]
        assert group.id in [each.id for each in client.groups.list()]
        group.unshare(invited.id)
        assert client.projects.list(membership=True) == []
    found = gl.projects.get(project.id)
    found.share(invited.id, gitlab.const.AccessLevel.REPORTER)
    assert [each.id for each in found.groups.list()] == [group.id]
    assert {each.id for each in found.groups.list(with_shared=True)} == {group.id, invited.id}


def test_memberships_of_a_user(gl: gitlab.Gitlab, instance: Instance, make: Make) -> None:
    person = make.user()
    group = make_group(make, members={person: 30})
    user = gl.users.get(person.id)

    (membership,) = user.memberships.list()
    assert (membership.source_type, membership.source_id, membership.access_level) == ("Namespace", group.id, 30)
    assert user.memberships.list(type="Project") == []
    with pytest.raises(GitlabListError):
        user.memberships.list(type="Invalid")
    with pytest.raises(GitlabListError) as refused:
        user.memberships.list(sudo=person.username)
    assert refused.value.response_code == 403
