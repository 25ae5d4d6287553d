"""python-gitlab's managers for variables, tokens, topics, badges, environments and other project resources."""

from collections.abc import Iterator
from typing import Any

import pytest
from gitlab import Gitlab, GitlabGetError
from gitlab.v4.objects import Group, Project

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_group, make_project


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


@pytest.fixture
def project(client: Gitlab, make: Make) -> Project:
    """Return a new project for each test."""
    return client.projects.get(make_project(make, visibility="public").id)


@pytest.fixture
def group(client: Gitlab, make: Make) -> Group:
    """Return a new group for each test."""
    return client.groups.get(make_group(make).id)


def test_variables(client: Gitlab, project: Project, group: Group, make: Make) -> None:
    for manager in (project.variables, group.variables, client.variables):
        key = make.name("key").replace("-", "_")
        variable: Any = manager.create({"key": key, "value": "first", "description": "d"})
        assert variable.value == "first"
        assert key in [each.key for each in manager.list(get_all=True)]
        variable.value = "second"
        variable.save()
        assert manager.get(key).value == "second"
        variable.delete()
        with pytest.raises(GitlabGetError):
            manager.get(key)


def test_variables_by_scope(project: Project) -> None:
    for scope in ("*", "production"):
        project.variables.create({"key": "KEY", "value": f"for {scope}", "environment_scope": scope})
    with pytest.raises(GitlabGetError) as caught:
        project.variables.get("KEY")
    assert caught.value.response_code == 409
    chosen = {"environment_scope": "production"}
    assert project.variables.get("KEY", filter=chosen).value == "for production"
    project.variables.update("KEY", {"value": "new"}, filter=chosen)
    assert project.variables.get("KEY", filter=chosen).value == "new"
    project.variables.delete("KEY", filter=chosen)
    assert project.variables.get("KEY").value == "for *"


def test_deploy_tokens(client: Gitlab, project: Project, group: Group) -> None:
    for manager in (project.deploytokens, group.deploytokens):
        made: Any = manager.create({"name": "t", "scopes": ["read_repository", "read_registry"], "username": "bot"})
        assert made.token
        assert made.username == "bot"
        held: Any = manager.get(made.id)
        assert held.scopes == ["read_repository", "read_registry"]
        assert not hasattr(held, "token")
        assert made.id in [each.id for each in client.deploytokens.list(get_all=True)]
        held.delete()
        assert manager.list(get_all=True) == []


def test_topics(client: Gitlab, project: Project, make: Make) -> None:
    name = make.name("topic")
    project.topics = [name]
    project.save()
    (carried,) = client.topics.list(search=name, get_all=True)
    assert carried.total_projects_count == 1
    made = client.topics.create({"name": f"{name}-made", "title": "Made"})
    made.description = "About it"
    made.save()
    assert client.topics.get(made.id).description == "About it"
    merged = client.topics.merge(carried.id, made.id)
    assert merged["total_projects_count"] == 1
    assert client.projects.get(project.id).topics == [f"{name}-made"]
    made.delete()
    assert client.topics.list(search=name, get_all=True) == []


def test_badges(project: Project, group: Group) -> None:
    sent = {"link_url": "https://example.com/%{project_path}", "image_url": "https://example.com/i.svg"}
    for manager in (project.badges, group.badges):
        badge: Any = manager.create(sent)
        badge.image_url = "https://example.com/other.svg"
        badge.save()
        assert manager.get(badge.id).image_url == "https://example.com/other.svg"
        rendered: Any = manager.render(sent["link_url"], sent["image_url"])
        assert rendered["link_url"] == sent["link_url"]
        assert len(manager.list(get_all=True)) == 1
        badge.delete()
        assert manager.list(get_all=True) == []


def test_custom_attributes(project: Project, group: Group) -> None:
    for manager in (project.customattributes, group.customattributes):
        attribute: Any = manager.set("key", "value")
        assert attribute.value == "value"
        assert manager.set("key", "other").value == "other"
        assert [each.value for each in manager.list(get_all=True)] == ["other"]
        assert manager.get("key").value == "other"
        attribute.delete()
        assert manager.list(get_all=True) == []


def test_environments(project: Project) -> None:
    environment = project.environments.create({"name": "live", "external_url": "https://live.example.com"})
    assert project.environments.list(name="live", get_all=True)[0].id == environment.id
    environment.external_url = "https://new.example.com"
    environment.save()
    held = project.environments.get(environment.id)
    assert held.external_url == "https://new.example.com"
    held.stop()
    assert project.environments.get(environment.id).state == "stopped"
    assert project.environments.list(states="stopped", get_all=True)[0].id == environment.id
    held.delete()
    assert project.environments.list(get_all=True) == []


def test_deployments(project: Project) -> None:
    sent = {"sha": "a" * 40, "ref": "main", "tag": False, "status": "running", "environment": "live"}
    deployment = project.deployments.create(sent)
    deployment.status = "success"
    deployment.save()
    assert project.deployments.get(deployment.id).status == "success"
    assert [each.id for each in project.deployments.list(environment="live", get_all=True)] == [deployment.id]


def test_triggers(project: Project) -> None:
    trigger = project.triggers.create({"description": "nightly"})
    assert len(trigger.token) == 30
    trigger.description = "weekly"
    trigger.save()
    assert project.triggers.get(trigger.id).description == "weekly"
    assert len(project.triggers.list(get_all=True)) == 1
    trigger.delete()
    assert project.triggers.list(get_all=True) == []


def test_runners(client: Gitlab, project: Project, group: Group) -> None:
    assert client.runners_all.list(tag_list=["no", "such tag"], get_all=True) == []
    assert group.runners.list(type="group_type", get_all=True) == []
    created = client.http_post("/user/runners", post_data={"runner_type": "project_type", "project_id": project.id})
    assert isinstance(created, dict)
    runner = client.runners.get(created["id"])
    assert [each.id for each in project.runners.list(type="project_type", get_all=True)] == [runner.id]
    runner.delete()
    with pytest.raises(GitlabGetError):
        client.runners.get(created["id"])
