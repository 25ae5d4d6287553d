"""GitLab source, reading a server that rejects requests and cuts connections."""

from pathlib import Path
from typing import Any

from ingot.import_export.records import KINDS
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.gitlab.project import GitLabProjectSource
from tests.testing.temporary_server import TemporaryServer, temporary_server
from tests.transfers.sources.reading import GUARD, records


async def no_delay(_: float) -> None:
    """Continue at once."""


def open_project(server: TemporaryServer, key: int) -> GitLabProjectSource:
    """Open a project with a client that does not wait before retries."""
    token = server.report["token"]
    client = SourceClient(GUARD, server.url, {"Authorization": f"Bearer {token}"}, sleep=no_delay)
    return GitLabProjectSource(client, server.url, token, str(key))


def test_a_source_with_faults_yields_the_same_records(tmp_path: Path) -> None:
    with temporary_server(tmp_path / "server", "--testing") as server:
        issues = [{"title": f"Issue {number}", "comments": ["A", "B"]} for number in range(30)]
        seeded = server.control("POST", "seed", json={"projects": [{"path": "code", "issues": issues}]}).json()
        project = seeded["projects"][0]["id"]
        source = open_project(server, project)
        expected = source.inventory().requests
        before = source.request_count()
        plain = {kind: records(source, kind) for kind in KINDS}
        source.close()
        assert len(plain["issues"]) == 30
        assert all(len(issue.discussions) >= 2 for issue in plain["issues"])
        # The document of the project, users, and the queries for reactions are additional.
        assert source.request_count() - before <= 1.2 * expected
        faults: list[dict[str, Any]] = [
            {"status": 502, "body": "<h1>Bad gateway</h1>"},
            {"retry_after": 1},
            {"reset": "before"},
            {"truncate": 20},
        ]
        for fault in faults:
            server.control("POST", "faults", json={"path": "/api/v4/projects/", "rate": 0.08, **fault})
        faulty = open_project(server, project)
        found = {kind: records(faulty, kind) for kind in KINDS}
        assert server.control("DELETE", "faults").status_code == 204
        faulty.close()
        assert found == plain
        assert faulty.request_count() > source.request_count() - before
