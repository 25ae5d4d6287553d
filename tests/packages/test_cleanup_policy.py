"""Cleanup policies of container images: validation, schedule and deletion of tags."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ingot.core.db.times import Timestamp, add_duration
from ingot.packages.containers import cleanup
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project
from tests.packages.registry_client import RegistryClient
from tests.roles import UsersByRole, project_with

Policy = Callable[..., Any]


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    return project_with(make, roles)


@pytest.fixture
def registry(instance: Instance, roles: UsersByRole) -> Iterator[RegistryClient]:
    client = RegistryClient(instance, roles.developer.username, roles.developer.token)
    yield client
    client.close()


def _apply(instance: Instance, days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the cleanup jobs as if some days had passed."""
    database = instance.app.database
    clock = database.clock
    with monkeypatch.context() as patch:
        patch.setattr(database, "clock", lambda: add_duration(clock(), days=days))
        database.write(cleanup.enqueue_tag_cleanups)
        instance.work()


def test_a_policy_is_validated_and_scheduled(api: Api, roles: UsersByRole, project: Project) -> None:
    def change(user: Any = roles.owner, **attributes: Any) -> Any:
        return api.put(project.url, user, container_expiration_policy_attributes=attributes)

    default = {
        "cadence": "1d",
        "enabled": False,
        "keep_n": 10,
        "older_than": "90d",
        "name_regex": ".*",
        "name_regex_keep": None,
        "next_run_at": None,
    }
    assert api.get(project.url, roles.owner).json()["container_expiration_policy"] == default
    for wrong in (
        {"cadence": "2d"},
        {"keep_n": 3},
        {"older_than": "1h"},
        {"enabled": "perhaps"},
        {"enabled": True, "name_regex": ""},
        {"enabled": True, "name_regex": "("},
        {"enabled": True, "name_regex_keep": "["},
    ):
        answer = change(**wrong)
        assert answer.status_code == 400, (wrong, answer.text)
    assert change(roles.developer, enabled=True).status_code == 403
    stored = change(enabled=True, cadence="7d", name_regex_delete="dev-.*").json()["container_expiration_policy"]
    assert (stored["cadence"], stored["name_regex"], stored["keep_n"]) == ("7d", "dev-.*", 10)
    assert Timestamp(stored["next_run_at"]) > add_duration(Timestamp(project_created(api, roles, project)), days=6)
    assert change(enabled=False).json()["container_expiration_policy"]["next_run_at"] is None


def project_created(api: Api, roles: UsersByRole, project: Project) -> str:
    """Return when a project was created."""
    return str(api.get(project.url, roles.owner).json()["created_at"])


def test_tags_are_deleted_when_the_policy_is_due(
    api: Api,
    instance: Instance,
    registry: RegistryClient,
    roles: UsersByRole,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for tag in ("dev-1", "dev-2", "dev-kept", "latest", "1.0"):
        registry.push_image(f"{project.path}/web", tag, b"layer")
    (repository,) = api.get(f"{project.url}/registry/repositories", roles.owner).json()
    tags = f"{project.url}/registry/repositories/{repository['id']}/tags"
    policy = {"enabled": True, "name_regex": "dev-.*", "name_regex_keep": ".*kept", "keep_n": 1, "older_than": "7d"}
    answer = api.put(project.url, roles.owner, container_expiration_policy_attributes=policy)
    assert answer.status_code == 200, answer.text

    def names() -> set[str]:
        return {tag["name"] for tag in api.get(tags, roles.owner).json()}

    _apply(instance, 0, monkeypatch)
    assert names() == {"dev-1", "dev-2", "dev-kept", "latest", "1.0"}, "Not due yet."
    first = api.get(project.url, roles.owner).json()["container_expiration_policy"]["next_run_at"]
    _apply(instance, 2, monkeypatch)
    assert len(names()) == 5, "Due, but the tags are too young."
    second = api.get(project.url, roles.owner).json()["container_expiration_policy"]["next_run_at"]
    assert second > first
    _apply(instance, 9, monkeypatch)
    assert names() == {"dev-2", "dev-kept", "latest", "1.0"}


def test_the_list_of_tags_has_their_sizes(
    api: Api, registry: RegistryClient, roles: UsersByRole, project: Project
) -> None:
    registry.push_image(project.path, "1.0", b"layer")
    (repository,) = api.get(f"{project.url}/registry/repositories", roles.owner).json()
    tags = f"{project.url}/registry/repositories/{repository['id']}/tags"
    (listed,) = api.get(tags, roles.owner).json()
    assert listed == api.get(f"{tags}/1.0", roles.owner).json()
