"""Deterministic mode: two servers, and two runs on one server, give equal responses."""

from pathlib import Path
from typing import Any

from tests.testing.temporary_server import TemporaryServer, temporary_server
from tests.testing.test_control import SEED


def _recorded(server: TemporaryServer) -> list[Any]:
    seeded = server.control("POST", "seed", content=SEED)
    assert seeded.status_code == 200, seeded.text
    hammer = f"/projects/{seeded.json()['projects'][0]['id']}"
    server.api("POST", f"{hammer}/issues", json={"title": "With a webhook"})
    server.control("POST", "jobs/run")
    paths = ("/users", hammer, f"{hammer}/issues", f"{hammer}/merge_requests/1", f"{hammer}/repository/commits")
    deploy = {"name": "deploy", "scopes": ["read_repository"]}
    token = server.api("POST", f"{hammer}/deploy_tokens", json=deploy).json()
    server.api("POST", f"{hammer}/environments", json={"name": "An environment with a long name"})
    responses = [server.api("GET", path) for path in (*paths, f"{hammer}/environments")]
    ids = [response.headers["x-request-id"] for response in responses]
    deliveries = server.control("GET", "hooks").json()["deliveries"]
    uuids = [delivery["headers"]["x-gitlab-event-uuid"] for delivery in deliveries]
    assert uuids
    port = server.url.rpartition(":")[2]
    texts = [response.text.replace(port, "PORT") for response in (seeded, *responses)]
    return [token, *texts, ids, uuids]


def test_deterministic_servers_give_equal_responses(tmp_path: Path) -> None:
    flags = "--testing", "--deterministic"
    with temporary_server(tmp_path / "one", *flags) as one, temporary_server(tmp_path / "two", *flags) as two:
        first = _recorded(one)
        assert _recorded(two) == first
        one.control("POST", "reset")
        assert _recorded(one) == first
        assert '"created_at":"2020-01-01T00:00:00.000Z"' in first[3]
        assert one.report["token"] == two.report["token"]
