"""Responses that a server has cached while others change what they contain."""

from tests.api.races.concurrent_servers import SERVERS, ConcurrentServers
from tests.client import Make
from tests.factories import make_project


def test_every_commit_is_seen_by_all_servers(make: Make, servers: ConcurrentServers) -> None:
    project = make_project(make)
    path = f"{project.url}/issues"
    for number in range(1, 9):
        assert servers.call(number, "POST", path, make.root, title=f"No. {number}").status_code == 201
        for server in range(SERVERS):
            assert [each["iid"] for each in servers.call(server, "GET", path, make.root).json()] == [
                *range(number, 0, -1)
            ]
