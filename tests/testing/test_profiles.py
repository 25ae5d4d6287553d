"""Profiles: behaviour where versions of GitLab differ, and the reported version."""

from pathlib import Path

import pytest

from tests.server.process import TOKEN
from tests.testing.temporary_server import TemporaryServer, server_with_defaults, temporary_server


@pytest.mark.parametrize("profile", ["9.4", "current"])
def test_the_profile_decides_where_versions_differ(tmp_path: Path, profile: str) -> None:
    flags = "--testing", "--profile", profile, "--reported-version", "17.5.1"
    is_current = profile == "current"
    with temporary_server(tmp_path / "server", *flags) as server:
        assert server.api("GET", "/version").json()["version"] == "17.5.1"
        files = {"files": {"a.txt": "one"}, "branches": {"feature": {"b.txt": "two"}}}
        seeded = server.control("POST", "seed", json={"projects": [{"path": "code", **files}]}).json()
        project = f"/projects/{seeded['projects'][0]['id']}"
        assert len(server.api("GET", f"{project}/boards").json()) == (0 if is_current else 1)
        raw = server.api("GET", f"{project}/repository/files/a.txt/raw")
        assert (raw.status_code, raw.text == "one") == ((200, True) if is_current else (400, False))
        tip = server.api("GET", f"{project}/repository/commits/feature").json()
        pick = {"branch": seeded["projects"][0]["default_branch"]}
        picked = server.api("POST", f"{project}/repository/commits/{tip['id']}/cherry_pick", json=pick).json()
        assert (f"(cherry picked from commit {tip['id']})" in picked["message"]) is is_current
        assert seeded["projects"][0]["default_branch"] == ("main" if is_current else "master")
        refused = server.api("POST", f"{project}/issues").json()
        old = {"message": '400 (Bad request) "title" not given'}
        assert refused == ({"error": "title is missing"} if is_current else old)
        refused = server.api("GET", f"{project}/issues?state=odd").json()
        plain = {"message": {"state": ["is invalid"]}}
        assert refused == ({"error": "state does not have a valid value"} if is_current else plain)
        _check_deletions(server, project, pick["branch"], is_current=is_current)


def _check_deletions(server: TemporaryServer, project: str, branch: str, *, is_current: bool) -> None:
    """Delete objects that exist, objects that do not, and those whose deletion has a response of its own."""
    server.api("POST", f"{project}/labels", json={"name": "bug", "color": "#ff0000"})
    server.api("POST", f"{project}/issues", json={"title": "One"})
    server.api("POST", f"{project}/repository/tags", json={"tag_name": "v1", "ref": branch})
    server.api("POST", f"{project}/releases", json={"tag_name": "v1", "description": "First"})
    for path in ("/labels/bug", "/issues/1"):
        existing, missing = (server.api("DELETE", f"{project}{path}") for _ in range(2))
        assert (existing.status_code, missing.status_code) == ((204, 404) if is_current else (200, 200))
        assert existing.content == b"" or not is_current
    hook = server.api("POST", f"{project}/hooks", json={"url": "http://127.0.0.1:1/"}).json()["id"]
    server.api("PUT", f"{project}/hooks/{hook}/url_variables/colour", json={"value": "red"})
    application = {"name": "bot", "redirect_uri": "http://127.0.0.1:1/", "scopes": "api"}
    listed = server.api("POST", "/applications", json=application).json()["id"]
    for path in (f"{project}/hooks/{hook}/url_variables/colour", f"/applications/{listed}"):
        statuses = [server.api("DELETE", path).status_code for _ in range(2)]
        assert statuses == ([204, 404] if is_current else [200, 200]), "without a GET route"
    assert server.api("DELETE", f"{project}/share/99").status_code == (404 if is_current else 204)
    refused = server.client.delete(f"/api/v4{project}/issues/99")
    assert refused.status_code == 401, "whether the object exists or not"
    assert server.api("DELETE", f"{project}/releases/v1").json()["tag_name"] == "v1"
    change = {"branch": branch, "commit_message": "Remove it"}
    statuses = [server.api("DELETE", f"{project}/repository/files/a.txt", params=change).status_code for _ in range(2)]
    assert statuses == ([204, 400] if is_current else [200, 200])
    deleted = server.api("DELETE", project)
    assert deleted.status_code == (202 if is_current else 200)
    assert server.api("DELETE", project).status_code == 404


@pytest.mark.parametrize(
    ("options", "version", "branch", "boards"),
    [
        ([], "17.11.0", "main", 0),
        (["--workers", "1", "--ssh-port", "0"], "17.11.0", "main", 0),
        (["--profile", "9.4"], "9.4.0", "master", 1),
        (["--profile", "current", "--reported-version", "18.0.0", "--default-branch", "trunk"], "18.0.0", "trunk", 0),
    ],
)
def test_a_temporary_server_is_of_today_unless_it_is_told_otherwise(
    tmp_path: Path, options: list[str], version: str, branch: str, boards: int
) -> None:
    with server_with_defaults(tmp_path / "server", *options, INGOT_ROOT_TOKEN=TOKEN) as server:
        assert server.api("GET", "/version").json()["version"] == version
        created = server.api("POST", "/projects", json={"name": "code", "initialize_with_readme": True}).json()
        assert created["default_branch"] == branch
        assert len(server.api("GET", f"/projects/{created['id']}/boards").json()) == boards
        expected = 404 if version != "9.4.0" else 200
        assert server.api("DELETE", f"/projects/{created['id']}/labels/none").status_code == expected
