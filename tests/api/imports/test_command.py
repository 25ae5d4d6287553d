"""The command ``ingot import``, in its own process next to a running server."""

from pathlib import Path

from tests.api.imports.conftest import ImportingInstance, SourceProject
from tests.server.process import ingot


def test_import_by_the_command(importing: ImportingInstance, source_project: SourceProject, tmp_path: Path) -> None:
    """It shows the plan, imports with a table of users, and prints the report; the token is in a file."""
    token = tmp_path / "token"
    token.write_text(importing.source_root.token)
    real = importing.make.user()
    users = tmp_path / "users.csv"
    users.write_text(f"{source_project.author.username},{real.username}\n")
    url = f"{importing.source.url}/{source_project.path}"
    options = ("--data", importing.second.settings.data, "--token-file", token)
    local = {"INGOT_ALLOW_LOCAL_REQUESTS": "1"}

    plan = ingot("import", url, "--plan", *options, **local)
    assert plan.returncode == 0, plan.stderr
    assert "issues" in plan.stdout
    done = ingot("import", url, "--into", "root/by-command", "--users", users, "--progress", *options, **local)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "No differences." in done.stdout
    assert importing.source_root.token not in done.stdout + done.stderr
    project = importing.api.get("/projects/root%2Fby-command", importing.root).json()
    issue = importing.api.get(f"/projects/{project['id']}/issues/1", importing.root).json()
    assert issue["author"]["username"] == real.username

    for arguments, message in (
        ((f"{importing.source.url}/root/none", "--into", "root/nothing"), "failed"),
        ((url, "--as", "nobody-here"), "There is no active user"),
    ):
        failed = ingot("import", *arguments, *options, **local)
        assert failed.returncode == 1
        assert message in failed.stdout + failed.stderr
