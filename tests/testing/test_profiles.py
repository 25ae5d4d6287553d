"""Profiles: behaviour where versions of GitLab differ, and the reported version."""

from pathlib import Path

import pytest

from tests.testing.temporary_server import temporary_server


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
