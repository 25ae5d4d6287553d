"""Concurrent calls on services, on several servers."""

from ingot.integrations.registry import REGISTRY
from tests.api.races.concurrent_servers import ConcurrentCall, ConcurrentServers
from tests.client import Api, Make
from tests.factories import make_project


def test_concurrent_setup_creates_one_service(api: Api, make: Make, servers: ConcurrentServers) -> None:
    """Each call changes the settings it names, and no change is lost."""
    project = make_project(make)
    path = f"{project.url}/services/slack"
    names = [each.name for each in REGISTRY["slack"].properties if each.name.endswith("_channel")]
    webhook = "https://hooks.example.com/x"

    answers = servers.race(
        *(ConcurrentCall("PUT", path, make.root, {"webhook": webhook, name: f"#{name}"}) for name in names)
    )

    assert answers == [200] * len(names)
    assert api.get(path, make.root).json()["properties"] == {name: f"#{name}" for name in names}
    assert len(api.get(f"{project.url}/services", make.root).json()) == 1
    assert set(servers.race(*(ConcurrentCall("DELETE", path, make.root) for _ in range(6)))) == {200}
    assert api.get(f"{project.url}/services", make.root).json() == []
