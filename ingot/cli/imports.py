"""``ingot import``: import a project or group of another server, or an archive, whether or not the server runs."""

import argparse
import csv
import os
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import get_args
from urllib.parse import urlsplit

from ingot.accounts.instance.outgoing_rules import instance_guard
from ingot.accounts.users.actors import active_actor
from ingot.accounts.users.queries import user_by_login_or_none
from ingot.cli.options import add_instance_options, prepare_instance, require_instance, settings_from_arguments
from ingot.cli.progress import ProgressReport
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Failure, NotFound, Unavailable
from ingot.core.jobs.handlers import RetryLater
from ingot.core.log import log_failure
from ingot.core.settings import Settings
from ingot.import_export.runs.destinations import is_left_by_failed_import
from ingot.import_export.runs.documents import progress_of
from ingot.import_export.runs.jobs import ImportRunJob
from ingot.import_export.runs.opening import store_archive
from ingot.import_export.runs.params import RequestedEntity, Server, SourceConfiguration, StartImport
from ingot.import_export.runs.queries import entities_of, open_runs, run_or_none
from ingot.import_export.runs.report import report_of, report_text
from ingot.import_export.runs.requests import ImportRequests, ServerProject
from ingot.import_export.runs.service import HOLD_SECONDS, cancel_run, finish_own_job, hold_run
from ingot.import_export.tables import ImportEntity, ImportRun
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import existing_project, project_id_by_path_or_none
from ingot.server.app import open_database

TOKEN_VARIABLE = "INGOT_IMPORT_TOKEN"  # noqa: S105 - The name of a variable.
_COLUMNS = 2
_POLL_SECONDS = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "source", metavar="SOURCE", help="URL of a project or group, or the path of an archive or bundle"
    )
    parser.add_argument(
        "--from", dest="server", choices=get_args(Server), help="kind of server (default: guessed from its name)"
    )
    parser.add_argument("--group", action="store_true", help="import a group or organization with its projects")
    parser.add_argument(
        "--into",
        metavar="PATH",
        help="full path on this server (default: the name at the source, in the namespace of --as)",
    )
    parser.add_argument(
        "--as",
        dest="username",
        metavar="USER",
        default="root",
        help="user in whose name the import runs (default: root)",
    )
    parser.add_argument(
        "--users", metavar="FILE", help="CSV file with two columns: user at the source, username on this server"
    )
    parser.add_argument("--token-file", metavar="FILE", help="file with the access token of the source")
    parser.add_argument(
        "--token-env",
        metavar="NAME",
        default=TOKEN_VARIABLE,
        help=f"variable with the access token of the source (default: {TOKEN_VARIABLE})",
    )
    parser.add_argument(
        "--if-exists",
        choices=("replace", "rename", "skip"),
        help="for archives, if the path exists: delete the project there, import under a free path, or do nothing",
    )
    parser.add_argument("--plan", action="store_true", help="count what would be imported, and exit")
    parser.add_argument(
        "--progress", action="store_true", help="show the progress; without a terminal, print a line every ten seconds"
    )
    parser.add_argument("--report", metavar="FILE", help="write the report to a file instead of printing it")
    parser.epilog = (
        "If you repeat the command, it imports only what has changed at the source since; see docs/migration.md."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Import in this process; exit with status 1 if something was not imported, with a one-line message on failure."""
    settings = require_instance(settings_from_arguments(arguments))
    prepare_instance(settings)
    database = open_database(settings)
    try:
        actor = database.read(partial(_actor, username=arguments.username))
        command = _ImportCommand(database, settings, arguments, actor)
        if arguments.plan:
            command.print_plan()
        elif not command.execute():
            sys.exit(1)
    except (Failure, Unavailable, OSError) as error:
        sys.exit(f"ingot: {error}")
    finally:
        database.close()


def _actor(db: Connection, username: str) -> Actor:
    user = user_by_login_or_none(db, username)
    actor = None if user is None else active_actor(db, user.id)
    if actor is None:
        raise NotFound(f"There is no active user {username}")
    return actor


def _is_taken(db: Connection, full_path: str) -> bool:
    """Return whether a project has the path; one that a failed import has left does not count."""
    project_id = project_id_by_path_or_none(db, full_path.lower())
    return project_id is not None and not is_left_by_failed_import(db, existing_project(db, project_id))


def _free_path(db: Connection, namespace: str, path: str) -> str:
    """Return the path with the lowest number at its end that is not taken."""
    return next(free for number in count(1) if not _is_taken(db, f"{namespace}/{(free := f'{path}-{number}')}"))


class _ImportCommand:
    """One import with its arguments."""

    def __init__(self, database: Database, settings: Settings, arguments: argparse.Namespace, actor: Actor) -> None:
        self._database = database
        self._settings = settings
        self._arguments = arguments
        self._actor = actor
        self._store = repository_store(settings)
        self._progress = ProgressReport()
        self._requests = ImportRequests(database, settings, actor, self._store)

    def print_plan(self) -> None:
        """Print what the source contains, and what cannot be imported."""
        source = self._server_source()
        keys = [source.key]
        if self._arguments.group:
            groups, projects = self._requests.project_paths(source)
            print(f"Groups: {', '.join(groups)}")
            keys = [key for key, _ in projects]
        for key in keys:
            inventory = self._requests.inventory(source._replace(key=key))
            print(f"{inventory.full_path}: {inventory.name}")
            for each in inventory.counts:
                print(f"  {each.kind:20} {'' if each.exact else 'about '}{each.count}")
            print(f"  {'requests':20} about {inventory.requests}")
            for reason in inventory.omitted:
                print(f"  Not imported: {reason}")

    def execute(self) -> bool:
        """Import, print the report, and return whether everything was imported."""
        import_run = self._database.read(self._open_run)
        if import_run is not None:
            print(f"Continuing the import of {import_run.created_at}", file=sys.stderr)
        elif self._is_file:
            import_run = self._start_archive()
        else:
            import_run = self._start()
        if import_run is None:
            return True
        if self._database.write(partial(hold_run, run_id=import_run.id)):
            self._import(import_run)
        self._wait_for_server(import_run)
        return self._print_report(import_run)

    def _import(self, import_run: ImportRun) -> None:
        """Import in this process, while the job of the run is kept from starting."""
        job = ImportRunJob(
            self._settings,
            self._store,
            instance_guard(self._settings, self._database, reads_only=True),
            on_progress=self._show,
        )
        stopped = Event()
        Thread(target=self._hold, args=(import_run.id, stopped), daemon=True).start()
        try:
            while True:
                try:
                    job.run(self._database, {"run_id": import_run.id})
                    break
                except RetryLater as wait:
                    print(f"Waiting {wait.seconds:.0f} seconds for the source", file=sys.stderr)
                    time.sleep(wait.seconds)
        except KeyboardInterrupt:
            self._database.write(partial(cancel_run, run=import_run))
            raise
        finally:
            stopped.set()
        if not self._is_open(import_run):
            self._database.write(partial(finish_own_job, run_id=import_run.id))

    def _hold(self, run_id: int, stopped: Event) -> None:
        while not stopped.wait(HOLD_SECONDS / 3):
            try:
                self._database.write(partial(hold_run, run_id=run_id))
            except (Unavailable, Failure) as error:  # The server continues the import if this lasts.
                log_failure("import not held", error)

    def _wait_for_server(self, import_run: ImportRun) -> None:
        """Wait while the server executes the run, which it does after a crash of this command."""
        if self._is_open(import_run):
            print("The server continues the import", file=sys.stderr)
        while self._is_open(import_run):
            time.sleep(_POLL_SECONDS)

    def _is_open(self, import_run: ImportRun) -> bool:
        current = self._database.read(partial(run_or_none, run_id=import_run.id))
        return current is not None and current.status in ("created", "started")

    def _open_run(self, db: Connection) -> ImportRun | None:
        """Return the run that an earlier command with these arguments began and did not end."""
        namespace, slug = self._destination()
        if self._is_file:
            kind, url, key = "archive", "", slug or self._archive_path
        else:
            source = self._server_source()
            kind, url, key = source.kind, source.url, source.key
        target = namespace.lower(), (slug or key.rpartition("/")[2]).lower()
        for run in open_runs(db, self._actor):
            if (run.source_type, run.source_url) != (kind, url):
                continue
            entity = entities_of(db, run.id)[0]
            if entity.source_key == key and target == (
                entity.destination_namespace.lower(),
                entity.destination_slug.lower(),
            ):
                return run
        return None

    def _print_report(self, import_run: ImportRun) -> bool:
        def read(db: Connection) -> tuple[str, bool]:
            ended = run_or_none(db, import_run.id) or import_run
            failed = any(entity.status != "finished" for entity in entities_of(db, import_run.id))
            return report_text(report_of(db, ended)), not failed

        if self._arguments.progress and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        text, complete = self._database.read(read)
        if self._arguments.report:
            Path(self._arguments.report).write_text(text)
        else:
            print(text, end="")
        return complete

    def _start_archive(self) -> ImportRun | None:
        """Start the import of an archive; return None if its project exists and shall stay as it is."""
        namespace, slug = self._destination()
        path, choice = slug or self._archive_path, self._arguments.if_exists
        full_path = f"{namespace}/{path}"
        if self._database.read(partial(_is_taken, full_path=full_path)):
            if choice is None:
                raise Conflict(f"{full_path} exists; choose --if-exists replace, rename or skip")
            if choice == "skip":
                print(f"{full_path} exists; nothing is imported", file=sys.stderr)
                return None
            if choice == "rename":
                path = self._database.read(partial(_free_path, namespace=namespace, path=path))
                print(f"{full_path} exists; importing into {namespace}/{path}", file=sys.stderr)
            else:
                print(f"Replacing {full_path}", file=sys.stderr)
        with Path(self._arguments.source).open("rb") as file:
            archive = store_archive(self._settings, file, Path(self._arguments.source).name)
        replaces = choice == "replace"
        return self._requests.start_archive(archive, namespace, path, None, None, overwrite=replaces, by_job=False)[1]

    def _start(self) -> ImportRun:
        namespace, slug = self._destination()
        source = self._server_source()
        entity = RequestedEntity(
            source_type="group_entity" if self._arguments.group else "project_entity",
            source_full_path=source.key,
            destination_namespace=namespace,
            destination_slug=slug or None,
        )
        configuration = SourceConfiguration(url=source.url, access_token=source.token, source_type=source.kind)
        params = StartImport(configuration=configuration, entities=[entity], user_mapping=self._users())
        full_path = f"{namespace}/{slug or source.key.rpartition('/')[2]}".lstrip("/")
        if not self._arguments.group and self._database.read(partial(_is_taken, full_path=full_path)):
            print(f"{full_path} exists; importing what has changed at the source", file=sys.stderr)
        return self._requests.start(params, by_job=False)

    @property
    def _archive_path(self) -> str:
        return Path(self._arguments.source).name.partition(".")[0]

    @property
    def _is_file(self) -> bool:
        return "://" not in self._arguments.source

    def _destination(self) -> tuple[str, str]:
        if not self._arguments.into:
            return ("" if self._arguments.group else self._actor.username), ""
        namespace, _, slug = self._arguments.into.strip("/").rpartition("/")
        if not namespace and not self._arguments.group:
            namespace = self._actor.username
        return namespace, slug

    def _server_source(self) -> ServerProject:
        if self._is_file:
            raise NotFound("A plan needs the URL of a server")
        parts = urlsplit(self._arguments.source)
        kind: Server = self._arguments.server or ("github" if parts.hostname == "github.com" else "gitlab")
        path = parts.path.strip("/").removesuffix(".git")
        return ServerProject(kind, f"{parts.scheme}://{parts.netloc}", self._token(), path)

    def _token(self) -> str:
        if self._arguments.token_file:
            return Path(self._arguments.token_file).read_text().strip()
        return os.environ.get(self._arguments.token_env, "")

    def _users(self) -> dict[str, str]:
        if not self._arguments.users:
            return {}
        with Path(self._arguments.users).open(newline="") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file)]
        return {row[0]: row[1] for row in rows if len(row) >= _COLUMNS and row[0] and row[1]}

    def _show(self, entity: ImportEntity) -> None:
        if not self._arguments.progress:
            return
        progress = progress_of(entity)
        done = sum(numbers.fetched for numbers in progress.kinds.values())
        total = sum(numbers.source for numbers in progress.kinds.values())
        what = f"{entity.source_full_path}: {entity.step or 'plan'} {progress.message or ''}".rstrip()
        self._progress.show(what, done, total)
