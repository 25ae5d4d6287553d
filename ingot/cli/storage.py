"""``ingot storage``: show where files are stored, and move them, whether or not the server runs."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from ingot.ci.jobs.jobs import TraceJobs
from ingot.ci.traces.store import trace_store_of
from ingot.cli.options import add_instance_options, require_instance, settings_from_arguments
from ingot.cli.progress import show_progress
from ingot.core.bucket_settings import BUCKET_KINDS
from ingot.core.db.database import Database
from ingot.core.errors import Failure, NotFound, Unavailable
from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.drivers import StorageDriver
from ingot.core.storage.files import FileStorage
from ingot.core.storage.s3 import URL_SECONDS
from ingot.core.storage.transfers import DamagedCopy, move_files
from ingot.git.maintenance.store import key_in
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import existing_project, project_id_by_path_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.storage_moves.mover import RepositoryMover
from ingot.repositories.storage_moves.queries import find_move, paths_by_repository_key, projects_on_storage
from ingot.repositories.storage_moves.service import schedule_move
from ingot.server.app import open_database
from ingot.server.bucket_repositories import copy_cache

_COLUMN_TITLES = ("KIND", "DISK", "BUCKET", "NEW FILES")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="show how many files of each kind are on disk and in the bucket")
    move = verbs.add_parser("move", help="move files to the place where new ones are stored, while the server runs")
    move.add_argument(
        "kind", nargs="*", metavar="KIND", help=f"kinds of files (default: all): {', '.join(BUCKET_KINDS)}"
    )
    move.add_argument("--to", choices=("disk", "bucket"), help="move them to this place instead")
    move.add_argument(
        "--no-wait",
        action="store_true",
        help="delete files in the bucket at once, although clients may use their URLs for another 15 minutes",
    )
    repository = verbs.add_parser("move-repository", help="move repositories to another storage, while the server runs")
    repository.add_argument("project", nargs="+", metavar="PROJECT", help="path of a project, or all:STORAGE")
    repository.add_argument("--to", metavar="STORAGE", required=True, help="storage to move to, such as default")
    cache = verbs.add_parser("cache", help="show the copies of repositories in the bucket that this machine keeps")
    cache.add_argument(
        "--clear", action="store_true", help="delete all copies that are not in use, while the server runs"
    )
    for verb in (listing, move, repository, cache):
        add_instance_options(verb)


def run(arguments: argparse.Namespace) -> None:
    """Run the verb; exit with a one-line message on failure."""
    settings = require_instance(settings_from_arguments(arguments))
    try:
        if arguments.verb == "list":
            print(_overview(settings))
        elif arguments.verb == "cache":
            _show_cache(settings, clear=arguments.clear)
        elif arguments.verb == "move-repository":
            _move_repositories(settings, arguments.project, arguments.to)
        else:
            _move(settings, arguments.kind or BUCKET_KINDS, arguments.to, wait=not arguments.no_wait)
    except (Failure, Unavailable, DamagedCopy, OSError) as error:
        show_progress("")
        sys.exit(f"ingot: {error}")


def _show_cache(settings: Settings, *, clear: bool) -> None:
    if not settings.storage_in_bucket:
        sys.exit("ingot: no repository storage is in a bucket: set INGOT_REPOSITORY_STORAGES to cloud=bucket")
    cache = copy_cache(settings)
    if clear:
        print(f"Deleted {cache.clear()} copies.")
        return
    copies = cache.copies()
    database = open_database(settings)
    try:
        keys = [key_in(settings.storage_in_bucket, copy.name) for copy in copies]
        paths = database.read(partial(paths_by_repository_key, keys=keys))
    finally:
        database.close()
    for key, copy in zip(keys, copies, strict=True):
        print(f"{_moment(copy.used_at)}  {copy.bytes:>14,}  {paths.get(key, copy.name)}")
    limit = f"of {cache.max_bytes:,} " if cache.max_bytes else ""
    print(f"{len(copies)} copies, {sum(copy.bytes for copy in copies):,} {limit}bytes")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _overview(settings: Settings) -> str:
    rows = [_COLUMN_TITLES]
    for kind in BUCKET_KINDS:
        storage = file_storage(settings, kind)
        rows.append((kind, _total(storage.disk), _total(storage.bucket), storage.target.name))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _total(place: StorageDriver | None) -> str:
    sizes = [] if place is None else [stored.size for stored in place.objects()]
    return f"{len(sizes)} files, {sum(sizes)} bytes" if sizes else "-"


def _move(settings: Settings, kinds: Sequence[str], place: str | None, *, wait: bool) -> None:
    unknown = set(kinds) - set(BUCKET_KINDS)
    if unknown:
        sys.exit(f"ingot: {min(unknown)!r} is not one of {', '.join(BUCKET_KINDS)}")
    if not settings.s3_bucket:
        sys.exit("ingot: there is no bucket: set INGOT_S3_BUCKET")
    for kind in kinds:
        storage = file_storage(settings, kind)
        to = place or storage.target.name
        if kind == "traces" and to == "bucket":
            _archive_traces(settings)
        else:
            _move_kind(kind, storage, to, wait=wait and bool(settings.s3_public_url))


def _move_kind(kind: str, storage: FileStorage, place: str, *, wait: bool) -> None:
    def report(files: int, size: int) -> None:
        show_progress(f"{kind}: {files} files, {size} bytes")

    # Clients may be about to download files of the bucket with URLs that they have already received.
    copies_first = wait and place == "disk"
    moved = move_files(storage, place, report, delete=not copies_first)
    if copies_first and moved.files:
        show_progress(f"{kind}: waiting until no client has a valid URL")
        time.sleep(URL_SECONDS)
        move_files(storage, place, report)
    show_progress("")
    print(f"{kind}: moved {moved.files} files, {moved.bytes} bytes to the {place}.")


def _archive_traces(settings: Settings) -> None:
    database = open_database(settings)
    try:
        TraceJobs(trace_store_of(settings)).archive(database, None)
    finally:
        database.close()
    print("traces: moved the logs of jobs that ended at least an hour ago to the bucket.")


def _move_repositories(settings: Settings, names: Sequence[str], storage: str) -> None:
    store, failed = repository_store(settings), False
    database = open_database(settings)
    try:
        for project in _projects(database, names):
            schedule = partial(schedule_move, project=project, destination=storage, storages=store.roots, by_job=False)
            move = database.write(schedule)
            RepositoryMover(store).run(database, move.id)
            move = database.read(partial(find_move, move_id=move.id))
            failed = failed or move.state != "finished"
            print(f"{project.full_path}: {move.state}" + (f": {move.error_message}" if move.error_message else ""))
    finally:
        database.close()
    if failed:
        sys.exit(1)


def _projects(database: Database, names: Sequence[str]) -> Iterator[Project]:
    for name in names:
        kind, _, storage = name.partition(":")
        if kind == "all":
            for project_id in database.read(partial(projects_on_storage, storage=storage)):
                yield database.read(partial(existing_project, project_id=project_id))
            continue
        found = database.read(partial(project_id_by_path_or_none, full_path=name))
        if found is None:
            raise NotFound(message=f"There is no project {name}")
        yield database.read(partial(existing_project, project_id=found))
