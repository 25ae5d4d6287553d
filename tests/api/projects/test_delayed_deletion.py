"""Deletion after a period: projects and groups that are scheduled for it, and their restoration."""

from collections.abc import Iterator
from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.projects.groups.delayed_deletion import enqueue_due_groups
from ingot.projects.projects.delayed_deletion import enqueue_due_projects
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, later, make_group, make_project


@pytest.fixture
def delayed(make: Make) -> Iterator[None]:
    with changed_settings(make, deletion_adjourned_period=7):
        yield


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


def _run_due(instance: Instance) -> None:
    for enqueue in (enqueue_due_projects, enqueue_due_groups):
        instance.app.database.write(enqueue)
    instance.work()


@pytest.mark.usefixtures("delayed")
def test_projects_can_be_restored(api: Api, make: Make, owner: User, instance: Instance) -> None:
    project = make_project(make, owner, visibility="public", initialize_with_readme=True)
    developer = make.user()
    api.post(f"{project.url}/members", owner, user_id=developer.id, access_level=Level.DEVELOPER)
    assert api.delete(project.url, developer).status_code == 403
    deleted = api.delete(project.url, owner)
    assert (deleted.status_code, deleted.json()) == (202, {"message": "202 Accepted"})
    shown = api.get(project.url, owner).json()
    today = instance.app.database.clock()[:10]
    assert (shown["marked_for_deletion_on"], shown["archived"]) == (today, True)
    assert shown["marked_for_deletion_at"] == today
    assert shown["path"] == f"{project.path.rpartition('/')[2]}-deletion_scheduled-{project.id}"
    assert api.post(f"{project.url}/issues", developer, title="Late").status_code == 403
    assert api.post(f"{project.url}/unarchive", owner).status_code == 403
    with later(instance, days=6):
        _run_due(instance)
    assert api.post(f"{project.url}/restore", developer).status_code == 403
    restored = api.post(f"{project.url}/restore", owner).json()
    assert (restored["path_with_namespace"], restored["archived"]) == (project.path, False)
    assert (restored["name"], restored["marked_for_deletion_on"]) == (project.name, None)
    assert api.post(f"{project.url}/restore", owner).status_code == 400
    with later(instance, days=8):
        _run_due(instance)
    assert api.get(project.url, owner).status_code == 200


@pytest.mark.usefixtures("delayed")
def test_projects_are_deleted_when_the_period_ends(api: Api, make: Make, owner: User, instance: Instance) -> None:
    project = make_project(make, owner, visibility="private")
    assert api.delete(project.url, owner).status_code == 202
    again = make_project(make, owner, name=project.name)
    assert again.path == project.path, "The name and the path are free at once."
    with later(instance, days=8):
        _run_due(instance)
    assert api.get(project.url, owner).status_code == 404
    assert api.get(again.url, owner).status_code == 200


@pytest.mark.usefixtures("delayed")
def test_scheduled_projects_can_be_deleted_at_once(api: Api, make: Make, owner: User) -> None:
    project = make_project(make, owner)
    at_once = {"permanently_remove": "true", "full_path": project.path}
    assert api.delete(project.url, owner, **at_once).status_code == 400, "It is not scheduled."
    assert api.delete(project.url, owner).status_code == 202
    assert api.delete(project.url, owner).status_code == 400
    assert api.delete(project.url, owner, **at_once).status_code == 400, "It has another path now."
    path = api.get(project.url, owner).json()["path_with_namespace"]
    assert api.delete(project.url, owner, permanently_remove="true", full_path=path).status_code == 200
    assert api.get(project.url, owner).status_code == 404


@pytest.mark.usefixtures("delayed")
def test_groups_can_be_restored_with_everything_below(api: Api, make: Make, owner: User, instance: Instance) -> None:
    group = make_group(make, owner)
    subgroup = make_group(make, owner, parent=group)
    open_project, archived = make_project(make, owner, group=subgroup), make_project(make, owner, group=group)
    assert api.post(f"{archived.url}/archive", owner).status_code == 201
    assert api.delete(group.url, owner).status_code == 202
    assert api.get(group.url, owner).json()["marked_for_deletion_on"] is not None
    assert [api.get(each.url, owner).json()["archived"] for each in (open_project, archived)] == [True, True]
    refused = api.post("/projects", owner, name="new", namespace_id=group.id)
    assert (refused.status_code, "scheduled for deletion" in refused.text) == (400, True)
    sent = {"name": "new", "path": "new", "parent_id": group.id}
    assert api.post("/groups", owner, **sent).status_code == 400
    assert api.post(f"{group.url}/restore", make.user()).status_code in (403, 404)
    restored = api.post(f"{group.url}/restore", owner)
    assert (restored.status_code, restored.json()["full_path"]) == (201, group.path)
    assert [api.get(each.url, owner).json()["archived"] for each in (open_project, archived)] == [False, True]
    assert api.get(open_project.url, owner).json()["path_with_namespace"] == open_project.path


@pytest.mark.usefixtures("delayed")
def test_groups_are_deleted_when_the_period_ends(api: Api, make: Make, owner: User, instance: Instance) -> None:
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    assert api.delete(group.url, owner).status_code == 202
    with later(instance, days=6):
        _run_due(instance)
    assert api.get(project.url, owner).status_code == 200
    with later(instance, days=8):
        _run_due(instance)
    assert [api.get(each.url, owner).status_code for each in (group, project)] == [404, 404]


@pytest.mark.usefixtures("delayed")
def test_what_is_scheduled_cannot_be_changed(api: Api, make: Make, owner: User) -> None:
    """Nor what is below a group that is scheduled: it can be restored or deleted only."""
    project, group = make_project(make, owner), make_group(make, owner)
    subgroup = make_group(make, owner, parent=group)
    below = make_project(make, owner, group=subgroup)
    elsewhere = make_group(make, owner)
    for each in (project, group):
        assert api.delete(each.url, owner).status_code == 202
    changes: list[dict[str, Any]] = [{"path": make.name("renamed")}, {"name": "Renamed"}, {"description": "Changed"}]
    for each in (project, group, subgroup, below):
        before = api.get(each.url, owner).json()
        for user in (owner, make.root):
            refused = [api.put(each.url, user, **change) for change in changes]
            assert [answer.status_code for answer in refused] == [403] * 3
            assert all("scheduled for deletion" in answer.text for answer in refused)
        assert api.get(each.url, owner).json() == before
    for each in (project, below):
        assert api.post(f"{each.url}/unarchive", owner).status_code == 403
        assert api.put(f"{each.url}/transfer", owner, namespace=elsewhere.id).status_code == 403
    for each in (group, subgroup):
        assert api.post(f"{each.url}/transfer", owner, group_id=elsewhere.id).status_code == 403
    for each in (project, group):
        assert api.post(f"{each.url}/restore", owner).status_code == 201
    for each in (project, group, subgroup, below):
        assert api.put(each.url, owner, description="Changed").status_code == 200


@pytest.mark.usefixtures("delayed")
def test_what_is_scheduled_is_read_only(api: Api, make: Make, owner: User) -> None:
    """Nothing is added, also below a group that is scheduled; access can be taken away, and the content exported."""
    member, other = make.user(), make.user()
    project, group = make_project(make, owner), make_group(make, owner, members={member: 40})
    below = make_group(make, owner, parent=group)
    inside = make_project(make, owner, group=below)
    token = {"name": "token", "scopes": ["read_api"], "access_level": 20}
    kept = [api.post(f"{each.url}/access_tokens", owner, **token).json()["id"] for each in (group, below)]
    additions: list[tuple[str, dict[str, Any]]] = [
        ("members", {"user_id": other.id, "access_level": 30}),
        ("invitations", {"email": "new@example.test", "access_level": 30}),
        ("hooks", {"url": "https://example.test/hook"}),
        ("variables", {"key": "KEY", "value": "value"}),
        ("labels", {"name": "late", "color": "#ff0000"}),
        ("milestones", {"title": "late"}),
        ("access_tokens", token),
        ("deploy_tokens", {"name": "late", "scopes": ["read_repository"]}),
        ("badges", {"link_url": "https://example.test", "image_url": "https://example.test/image"}),
    ]
    for each in (project, group):
        assert api.delete(each.url, owner).status_code == 202
    for each in (project, group, below, inside):
        for user in (owner, make.root):
            refused = {name: api.post(f"{each.url}/{name}", user, **sent) for name, sent in additions}
            assert {name: answer.status_code for name, answer in refused.items()} == dict.fromkeys(refused, 403)
        assert "scheduled for deletion" in refused["hooks"].text
        assert api.get(f"{each.url}/labels", owner).json() == []
    for each, token_id in zip((group, below), kept, strict=True):
        assert api.delete(f"{each.url}/access_tokens/{token_id}", owner).status_code == 200
        assert api.post(f"{each.url}/export", owner).status_code == 202
    assert api.post(f"{project.url}/export", owner).status_code == 202
    assert api.delete(f"{group.url}/members/{member.id}", owner).status_code == 200
    for each in (project, group):
        assert api.post(f"{each.url}/restore", owner).status_code == 201
    for each in (project, group):
        statuses = {name: api.post(f"{each.url}/{name}", owner, **sent).status_code for name, sent in additions}
        assert statuses == dict.fromkeys(statuses, 201), each


@pytest.mark.usefixtures("delayed")
def test_restored_names_that_others_use_by_now(api: Api, make: Make, owner: User) -> None:
    """They get an ending, so that both stay."""
    group = make_group(make, owner)
    project, below = make_project(make, owner), make_group(make, owner, parent=group)
    for each in (project, group, below):
        assert api.delete(each.url, owner).status_code == 202
        if each is not below:
            below_path = each.path.rpartition("/")[2]
            where = {"path": below_path, "name": each.name}
            made = api.post("/groups" if each is group else "/projects", owner, **where)
            assert made.status_code == 201, made.text
        restored = api.post(f"{each.url}/restore", owner)
        assert restored.status_code == 201, restored.text
        renamed = restored.json()
        for shown, former in ((renamed["name"], each.name), (renamed["path"], each.path.rpartition("/")[2])):
            assert shown.startswith(former)
            assert (shown == former) == (each is below)


@pytest.mark.usefixtures("delayed")
def test_a_shorter_period_holds_for_what_is_scheduled(api: Api, make: Make, owner: User, instance: Instance) -> None:
    project = make_project(make, owner)
    assert api.delete(project.url, owner).status_code == 202
    _run_due(instance)
    assert api.get(project.url, owner).status_code == 200
    with changed_settings(make, deletion_adjourned_period=0):
        _run_due(instance)
    assert api.get(project.url, owner).status_code == 404


def test_without_a_period(api: Api, make: Make, owner: User) -> None:
    project = make_project(make, owner)
    assert api.get(project.url, owner).json()["marked_for_deletion_on"] is None
    assert api.delete(project.url, owner).status_code == 200
    assert api.get(project.url, owner).status_code == 404
