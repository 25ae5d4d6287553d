"""Import of a large project from a second instance: seconds, memory of the importing process, and requests."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from sqlalchemy import select

from bench.git_history import import_stream, write_branches
from bench.repositories import Measurement, create_project
from bench.user_data import TOKEN
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.core.settings import Settings
from ingot.import_export.records import Kind, ProjectRecord
from ingot.import_export.runs.documents import progress_of
from ingot.import_export.runs.service import link_source
from ingot.import_export.source import ProjectSource
from ingot.import_export.tables import ImportEntity, import_entities
from ingot.import_export.target.files import FileStore
from ingot.import_export.target.project import ProjectTarget
from ingot.import_export.users import Importer, UserMapping
from ingot.import_export.work_item_records import (
    DiscussionRecord,
    IssueRecord,
    LabelEventRecord,
    MergeRequestRecord,
    NoteRecord,
    StateEventRecord,
    UserRecord,
)
from ingot.projects.namespaces.queries import namespace_of_user
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.tables import projects
from ingot.projects.uploads.files import upload_files
from ingot.server.app import open_database

ISSUES, NOTES_EACH, MERGE_REQUESTS, COMMITS = 5_000, 4, 500, 10_000
USERS = 20
CLOSED_EACH = 3
"""Each item has a label, and every third one is closed, both with an event."""
_NAME = "moving"
_BATCH = 250
_NEWEST = select(import_entities).order_by(import_entities.c.id.desc()).limit(1)


class ImportFigures(NamedTuple):
    """Seconds, peak memory in MiB, and requests of one run of the command."""

    seconds: float
    megabytes: float
    requests: int
    written: int


def fill_import_source(settings: Settings, port: int) -> None:
    """Fill a project; its rows are written by the importer itself, which is the quickest way to valid ones."""
    place = create_project(settings, port, _NAME)
    import_stream(place.path, _history())
    tip = _head_of(place.path)
    heads = write_branches(place.path, tip, {f"change-{iid}": [f"{iid}.txt"] for iid in range(1, MERGE_REQUESTS + 1)})
    refs = "".join(f"create refs/merge-requests/{name[7:]}/head {oid}\n" for name, oid in heads.items())
    subprocess.run(["git", "update-ref", "--stdin"], cwd=place.path, input=refs, text=True, check=True)
    database = open_database(settings)

    def begin(db: Connection) -> tuple[int, int]:
        db.update(projects, place.id, empty=False, generation=1)
        return link_source(db, "gitlab", "bench", "bench", project_id=place.id), namespace_of_user(db, 1).id

    import_id, namespace_id = database.write(begin)
    mapping = UserMapping("bench", namespace_id, Importer(1, admin=True), {})
    files = FileStore(upload_files(settings), repository_store(settings), settings.base_url)
    target = ProjectTarget(import_id, place.id, mapping, files)

    def store(db: Connection, kind: Kind, records: Sequence[ProjectRecord]) -> None:
        db.lock(NAMESPACES)
        target.store(db, kind, records)

    kinds: dict[Kind, list[ProjectRecord]] = {
        "issues": [_issue(iid) for iid in range(1, ISSUES + 1)],
        "merge_requests": [_merge_request(iid, heads, tip) for iid in range(1, MERGE_REQUESTS + 1)],
    }
    for kind, records in kinds.items():
        for first in range(0, len(records), _BATCH):
            batch = records[first : first + _BATCH]
            target.prepare(database, cast("ProjectSource", None), kind, batch)
            database.write(partial(store, kind=kind, records=batch))
    database.close()


def measure_imports(source_port: int, settings: Settings) -> Iterator[Measurement]:
    """Import the project twice; the second run finds nothing new."""
    plan = _command(source_port, settings, "--plan")
    first = _command(source_port, settings)
    second = _command(source_port, settings)
    yield Measurement("import of 5,000 issues, s", first.seconds, "<= 180", first.seconds <= 180)
    added = first.megabytes - plan.megabytes
    yield Measurement("memory of an import, MiB more", added, "<= 150", added <= 150, f"of {first.megabytes:.0f}")
    needed = _necessary_requests(ISSUES) + ISSUES + _necessary_requests(MERGE_REQUESTS) + MERGE_REQUESTS
    share = first.requests / needed
    yield Measurement("requests / necessary ones", share, "<= 1.20", share <= 1.2, f"{first.requests} of {needed}")
    again = second.requests
    yield Measurement("requests of a second run", again, "<= 100", again <= 100, f"{second.seconds:.1f} s")
    yield Measurement("rows written by a second run", second.written, "<= 0", second.written == 0)


def _necessary_requests(count: int) -> int:
    """Return the pages of a list of items, and the lists of events of those that have a label or are closed.

    GitLab has no list of all discussions, versions or events of a project, so that each item which has some needs a
    request of its own: the issues of this project for their discussions, the merge requests for their versions.
    """
    return -(-count // 100) + count + count // CLOSED_EACH


def _command(source_port: int, settings: Settings, *options: str) -> ImportFigures:
    report = settings.data / "report.json"
    command = [str(Path(sys.executable).parent / "ingot"), "import", f"http://127.0.0.1:{source_port}/root/{_NAME}"]
    command += ["--from", "gitlab", "--into", f"root/{_NAME}", "--data", str(settings.data), *options]
    environment = {**os.environ, "INGOT_ALLOW_LOCAL_REQUESTS": "1", "INGOT_IMPORT_TOKEN": TOKEN}
    started = time.perf_counter()
    process = subprocess.Popen([*command, "--report", str(report)], env=environment, stdout=subprocess.DEVNULL)
    kilobytes = 0
    while process.poll() is None:
        kilobytes = max(kilobytes, _peak_memory(process.pid))
        time.sleep(0.05)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise RuntimeError(f"ingot import ended with {process.returncode}: {report.read_text()}")
    requests, written = _numbers(settings) if not options else (0, 0)
    return ImportFigures(seconds, kilobytes / 1024, requests, written)


def _peak_memory(pid: int) -> int:
    """Return the peak memory of a process in KiB; 0 if it has just ended."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def _numbers(settings: Settings) -> tuple[int, int]:
    """Return the requests and the written records of the last run."""
    database = open_database(settings)
    entity = database.read(lambda db: db.first(ImportEntity, _NEWEST))
    database.close()
    if entity is None:
        raise RuntimeError("Nothing was imported")
    progress = progress_of(entity)
    return progress.requests, sum(numbers.created + numbers.updated for numbers in progress.kinds.values())


def _history() -> Iterator[bytes]:
    for number in range(1, COMMITS + 1):
        yield b"commit refs/heads/master\ncommitter Ada <ada@example.org> %d +0000\n" % (1_500_000_000 + 60 * number)
        yield b"data 9\nA change\n\n"
        content = b"Line of commit %d\n" % number
        yield b"M 100644 inline file-%02d.txt\ndata %d\n" % (number % 100, len(content)) + content + b"\n"
    yield b"done\n"


def _head_of(path: Path) -> str:
    command = ["git", "rev-parse", "refs/heads/master"]
    return subprocess.run(command, cwd=path, capture_output=True, text=True, check=True).stdout.strip()


def _user(number: int) -> UserRecord:
    key = str(1 + number % USERS)
    return UserRecord(key=key, username=f"user{key}", name=f"User {key}")


def _item(iid: int, notes: int) -> dict[str, Any]:
    at = f"20{10 + iid // 1000:02}-{1 + iid // 84 % 12:02}-{1 + iid // 3 % 28:02}T12:00:{iid % 60:02}.000Z"
    return {
        "key": str(iid),
        "iid": iid,
        "title": f"Number {iid}",
        "author": _user(iid),
        "created_at": at,
        "updated_at": at,
        "description": "A description of what should happen. " * 10,
        "state": "opened" if iid % CLOSED_EACH else "closed",
        "labels": [f"label-{iid % 20}"],
        "label_events": [
            LabelEventRecord(key=str(iid), user=_user(iid), action="add", label=f"label-{iid % 20}", created_at=at)
        ],
        "state_events": [StateEventRecord(key=str(iid), user=_user(iid), state="closed", created_at=at)][
            iid % CLOSED_EACH :
        ],
        "discussions": [
            DiscussionRecord(
                key=f"{iid}-{number}",
                individual_note=True,
                notes=[
                    NoteRecord(
                        key=f"{iid}-{number}",
                        author=_user(iid + number),
                        body=f"Comment {number} on this. " * 5,
                        created_at=at,
                        updated_at=at,
                    )
                ],
            )
            for number in range(notes)
        ],
    }


def _issue(iid: int) -> IssueRecord:
    return IssueRecord(**_item(iid, NOTES_EACH))


def _merge_request(iid: int, heads: dict[str, str], tip: str) -> MergeRequestRecord:
    head = heads[f"change-{iid}"]
    branches: dict[str, Any] = {"source_branch": f"change-{iid}", "target_branch": "master"}
    return MergeRequestRecord(**_item(iid, 0), **branches, head_sha=head, base_sha=tip, start_sha=tip)
