"""The command ``ingot import``, in its own process next to a running server."""

from functools import partial
from pathlib import Path

from ingot.accounts.users.actors import active_actor
from ingot.core.db.times import add_duration
from ingot.import_export.runs.params import RequestedEntity, SourceConfiguration, StartImport
from ingot.import_export.runs.requests import ImportRequests
from ingot.import_export.runs.service import HOLD_SECONDS, begin_run
from ingot.projects.projects.api import repository_store
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


def _begin_and_die(importing: ImportingInstance, path: str, slug: str) -> None:
    """Begin an import as the command does, and leave it as a killed command does."""
    second = importing.second
    database = second.app.database
    actor = database.read(partial(active_actor, user_id=importing.root.id))
    assert actor is not None
    entity = RequestedEntity(
        source_type="project_entity", source_full_path=path, destination_namespace="root", destination_slug=slug
    )
    url, token = importing.source.url, importing.source_root.token
    configuration = SourceConfiguration(url=url, access_token=token, source_type="gitlab")
    requests = ImportRequests(database, second.settings, actor, repository_store(second.settings))
    run = requests.start(StartImport(configuration=configuration, entities=[entity]), by_job=False)
    database.write(partial(begin_run, run_id=run.id))


def _status(importing: ImportingInstance, path: str) -> int:
    return importing.api.get(f"/projects/{path.replace('/', '%2F')}", importing.root).status_code


def test_a_repeated_command_continues_what_a_killed_one_began(
    importing: ImportingInstance, source_project: SourceProject, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(importing.source_root.token)
    _begin_and_die(importing, source_project.path, "continued")
    newest = importing.api.get("/bulk_imports", importing.root).json()[0]

    options = ("--data", importing.second.settings.data, "--token-file", token, "--into", "root/continued")
    url = f"{importing.source.url}/{source_project.path}"
    done = ingot("import", url, *options, INGOT_ALLOW_LOCAL_REQUESTS="1")

    assert done.returncode == 0, done.stderr + done.stdout
    assert "Continuing the import" in done.stderr and "No differences." in done.stdout
    assert importing.api.get("/bulk_imports", importing.root).json()[0]["id"] == newest["id"]
    assert _status(importing, "root/continued") == 200


def test_the_server_continues_what_a_killed_command_began(
    importing: ImportingInstance, source_project: SourceProject
) -> None:
    """Within a minute: as long as the command lives, it keeps the job of the run from starting."""
    database = importing.second.app.database
    importing.work()
    _begin_and_die(importing, source_project.path, "by-server")
    importing.work()
    assert _status(importing, "root/by-server") == 404

    clock = database.clock
    database.clock = lambda: add_duration(clock(), seconds=HOLD_SECONDS)
    try:
        importing.work()
    finally:
        database.clock = clock
    assert HOLD_SECONDS < 60
    assert _status(importing, "root/by-server") == 200
