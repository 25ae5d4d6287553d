"""python-gitlab's managers for projects, members, access requests, forks and stars."""

from collections.abc import Iterator
from typing import Any

import gitlab
import pytest
from gitlab.exceptions import (
    GitlabCreateError,
    GitlabDeleteError,
    GitlabGetError,
    GitlabHttpError,
    GitlabTransferProjectError,
    GitlabUpdateError,
)

from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_group, make_project


@pytest.fixture
def gl(instance: Instance, make: Make) -> Iterator[gitlab.Gitlab]:
    """Yield the client of the administrator."""
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        yield client


def _client(instance: Instance, person: User) -> gitlab.Gitlab:
    return gitlab.Gitlab(instance.url, private_token=person.token)


def test_projects_are_created_found_changed_and_deleted(gl: gitlab.Gitlab, make: Make) -> None:
    group = gl.groups.get(make_group(make).id)
    name = make.name("client")
    project = gl.projects.create({"name": name, "namespace_id": group.id, "description": "Made"})
    assert gl.projects.get(project.id).path_with_namespace == f"{group.path}/{name}"
    assert gl.projects.get(f"{group.path}/{name}").id == project.id
    assert [each.id for each in gl.projects.list(search=name, get_all=True)] == [project.id]

    project.description = "Changed"
    project.wiki_enabled = False
    project.save()
    assert gl.projects.get(project.id).attributes["description"] == "Changed"
    gl.projects.update(project.id, {"visibility": "private"})
    with pytest.raises(GitlabUpdateError):
        gl.projects.update(project.id, {"visibility": "public"})

    project.delete()
    with pytest.raises(GitlabGetError) as gone:
        gl.projects.get(project.id)
    assert gone.value.response_code == 404


def test_all_projects_are_iterated(instance: Instance, make: Make) -> None:
    user = make.user()
    made = [make_project(make, user).id for _ in range(5)]
    with _client(instance, user) as client:
        by_pages = client.projects.list(owned=True, iterator=True, per_page=2, order_by="id", sort="asc")
        assert [each.id for each in by_pages] == made
        assert by_pages.total == 5
        by_keys = client.projects.list(
            owned=True, iterator=True, per_page=2, order_by="id", sort="asc", pagination="keyset"
        )
        assert [each.id for each in by_keys] == made
        head = client.projects.head(owned=True)
        assert head["x-total"] == "5"
        simple = client.projects.list(owned=True, simple=True, get_all=True)
        assert not hasattr(simple[0], "visibility")


def test_members(gl: gitlab.Gitlab, make: Make) -> None:
    person, project = make.user(), gl.projects.get(make_project(make).id)

    member = project.members.create({"user_id": person.id, "access_level": gitlab.const.AccessLevel.DEVELOPER})
    assert project.members.get(person.id).access_level == 30
    member.access_level = gitlab.const.AccessLevel.MAINTAINER
    member.expires_at = "2999-01-01"
    member.save()
    assert (project.members.get(person.id).access_level, project.members.get(person.id).expires_at) == (
        40,
        "2999-01-01",
    )
    assert {each.id for each in project.members_all.list(get_all=True)} == {make.root.id, person.id}
    assert project.members_all.get(person.id).username == person.username
    assert [each.id for each in project.members.list(query=person.username)] == [person.id]
    with pytest.raises(GitlabCreateError) as twice:
        project.members.create({"user_id": person.id, "access_level": 30})
    assert (twice.value.response_code, twice.value.error_message) == (409, "Member already exists")
    member.delete()
    assert [each.id for each in project.members.list()] == [make.root.id]
    assert [each.id for each in project.users.list()] == [make.root.id]


def test_access_requests(gl: gitlab.Gitlab, instance: Instance, make: Make) -> None:
    person, project = make.user(), make_project(make, visibility="public")
    with _client(instance, person) as client:
        for source in (client.projects.get(project.id), client.groups.get(make_group(make, visibility="public").id)):
            request = source.accessrequests.create()
            assert request.id == person.id
            manager: Any = (gl.projects if hasattr(source, "forks") else gl.groups).get(source.id).accessrequests
            (waiting,) = manager.list()
            waiting.approve(access_level=20)
            assert manager.list() == []
            assert source.members.get(person.id).access_level == 20


def test_forks(gl: gitlab.Gitlab, instance: Instance, make: Make) -> None:
    person = make.user()
    project = make_project(make, visibility="public")
    group = make_group(make, person)
    with _client(instance, person) as client:
        source = client.projects.get(project.id)
        fork = source.forks.create({})
        assert client.projects.get(fork.id).forked_from_project["id"] == project.id
        into = source.forks.create({"namespace": group.path})
        assert into.namespace["id"] == group.id
        assert {each.id for each in source.forks.list(get_all=True)} == {fork.id, into.id}
        with pytest.raises(GitlabCreateError) as twice:
            source.forks.create({})
        assert twice.value.response_code == 409
    made = gl.projects.get(make_project(make).id)
    made.create_fork_relation(project.id)
    assert gl.projects.get(made.id).forked_from_project["id"] == project.id
    made.delete_fork_relation()
    assert not hasattr(gl.projects.get(made.id), "forked_from_project")


def test_stars(instance: Instance, make: Make) -> None:
    person, project = make.user(), make_project(make, visibility="public")
    with _client(instance, person) as client:
        source = client.projects.get(project.id)
        source.star()
        assert client.projects.get(project.id).star_count == 1
        with pytest.raises(GitlabCreateError) as again:
            source.star()
        assert again.value.response_code == 304
        assert [each.id for each in client.projects.list(starred=True)] == [project.id]
        user = client.users.get(person.id)
        assert [each.id for each in user.starred_projects.list()] == [project.id]
        source.unstar()
        assert client.projects.get(project.id).star_count == 0


def test_archive_share_transfer_and_others(gl: gitlab.Gitlab, make: Make) -> None:
    project = gl.projects.get(make_project(make).id)
    group, other = make_group(make), make_group(make)

    project.archive()
    assert gl.projects.update(project.id, {"description": "x"})["description"] == "x"
    project.unarchive()
    project.share(group.id, gitlab.const.AccessLevel.DEVELOPER, expires_at="2999-12-31")
    shared = gl.projects.get(project.id).shared_with_groups
    assert [(each["group_id"], each["group_access_level"]) for each in shared] == [(group.id, 30)]
    project.unshare(group.id)
    assert gl.projects.get(project.id).shared_with_groups == []
    project.transfer(other.id)
    assert gl.projects.get(project.id).namespace["id"] == other.id
    with pytest.raises(GitlabTransferProjectError):
        project.transfer(other.id)
    assert project.languages() == {}
    project.housekeeping()


def test_errors_have_messages(gl: gitlab.Gitlab, instance: Instance, make: Make) -> None:
    user = make.user()
    project = make_project(make)
    with _client(instance, user) as client:
        with pytest.raises(GitlabGetError):
            client.projects.get(project.id)
        with pytest.raises(GitlabDeleteError) as hidden:
            client.projects.delete(project.id)
        assert hidden.value.response_code == 404
        with pytest.raises(GitlabCreateError) as taken:
            [client.projects.create({"name": "Twice"}) for _ in range(2)]
        message: object = taken.value.error_message  # Declared as a string, but it is the decoded JSON.
        assert message == {"name": ["has already been taken"], "path": ["has already been taken"]}
    with pytest.raises(GitlabHttpError):
        gl.http_put(f"/projects/{project.id}/transfer", post_data={})


def test_the_projects_of_a_user(gl: gitlab.Gitlab, make: Make) -> None:
    user = make.user()
    project = make_project(make, user)

    assert [each.id for each in gl.users.get(user.id).projects.list()] == [project.id]
    made = gl.users.get(user.id).projects.create({"name": "For You"})
    assert gl.projects.get(made.id).owner["id"] == user.id
