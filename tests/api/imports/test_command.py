"""The command ``ingot import``, in its own process next to a running server."""

import os
import subprocess
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


def _bundle(folder: Path) -> Path:
    """Write a bundle with one commit."""
    repository, bundle = folder / "repository", folder / "app.bundle"
    identity = ("-c", "user.name=A", "-c", "user.email=a@localhost")
    for words in (
        ("init", "--quiet", "--initial-branch=main", repository),
        ("-C", repository, *identity, "commit", "--quiet", "--allow-empty", "--message=One"),
        ("-C", repository, "bundle", "create", "--quiet", bundle, "--all"),
    ):
        subprocess.run(["git", *map(str, words)], check=True)
    return bundle


def test_an_archive_is_imported_again_as_the_caller_chooses(importing: ImportingInstance, tmp_path: Path) -> None:
    """The data directory may be a relative path."""
    bundle, data = _bundle(tmp_path), importing.second.settings.data
    command = ("import", bundle, "--into", "root/from-bundle", "--data", os.path.relpath(data))
    first = ingot(*command)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "from app.bundle (archive): finished" in first.stdout and "app -> root/from-bundle" in first.stdout
    assert _status(importing, "root/from-bundle") == 200

    refused = ingot(*command)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "ingot: root/from-bundle exists; choose --if-exists replace, rename or skip\n"
    skipped = ingot(*command, "--if-exists", "skip")
    assert (skipped.returncode, skipped.stderr) == (0, "root/from-bundle exists; nothing is imported\n")
    assert _status(importing, "root/from-bundle-1") == 404
    renamed = ingot(*command, "--if-exists", "rename")
    assert renamed.returncode == 0 and "importing into root/from-bundle-1" in renamed.stderr
    assert _status(importing, "root/from-bundle-1") == 200
    before = importing.api.get("/projects/root%2Ffrom-bundle", importing.root).json()["id"]
    replaced = ingot(*command, "--if-exists", "replace")
    assert replaced.returncode == 0 and "Replacing root/from-bundle" in replaced.stderr
    assert importing.api.get("/projects/root%2Ffrom-bundle", importing.root).json()["id"] != before
    assert not list((data / "imports").iterdir()), "Archives of ended and refused imports are deleted"


def test_what_a_failed_import_has_left_is_replaced_unless_it_is_used(
    importing: ImportingInstance, tmp_path: Path
) -> None:
    bundle = _bundle(tmp_path)
    damaged = tmp_path / "damaged.bundle"
    damaged.write_bytes(bundle.read_bytes()[:100])
    options = ("--into", "root/damaged", "--data", importing.second.settings.data)
    assert ingot("import", damaged, *options).returncode == 1
    assert ingot("import", damaged, *options).returncode == 1
    project = importing.api.get("/projects/root%2Fdamaged", importing.root).json()
    assert project["import_status"] == "failed"
    issue = importing.api.post(f"/projects/{project['id']}/issues", importing.root, title="Used")
    assert issue.status_code == 201
    refused = ingot("import", bundle, *options)
    assert refused.returncode == 1 and "root/damaged exists" in refused.stderr
    assert importing.api.delete(f"/projects/{project['id']}", importing.root).status_code in (200, 202)

    options = ("--into", "root/repaired", "--data", importing.second.settings.data)
    assert ingot("import", damaged, *options).returncode == 1
    done = ingot("import", bundle, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert importing.api.get("/projects/root%2Frepaired", importing.root).json()["import_status"] == "finished"
