"""Merge requests: thousands on a large repository: read, list, open, merge, and pushes beside."""

import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from bench.git_history import names, write_branches, write_history
from bench.load import get, requests_per_second
from bench.repositories import AUTHOR, ENV, FilledRepository, Measurement, create_project, ratio, timed
from bench.user_data import TOKEN
from ingot.collaboration.iids.tables import internal_ids
from ingot.collaboration.merge_requests.tables import merge_request_counts, merge_request_versions, merge_requests
from ingot.core.db.connection import Connection
from ingot.core.settings import Settings
from ingot.git.maintenance.housekeeping import run_housekeeping
from ingot.projects.projects.tables import projects
from ingot.server.app import open_database

REQUESTS = 5_000
OPEN = 500
WIDE = 200
FRESH = 60
BUSY, QUIET = "busy", "quiet"
"""Two equal branches; one is the target of all open merge requests."""


class FilledProject(NamedTuple):
    """Project, and the heads of its added branches."""

    place: FilledRepository
    heads: dict[str, str]


def fill_merge_requests(settings: Settings, port: int) -> FilledProject:
    """Fill a new project; the rows equal those written by the API."""
    place = create_project(settings, port, "large")
    commits = write_history(place.path)
    tip = commits[-1]
    changed = {f"open-{number}": [f"open/{number}.txt"] for number in range(OPEN)}
    changed |= {f"fresh-{number}": [f"fresh/{number}.txt"] for number in range(FRESH)}
    changed |= {"wide": names(WIDE), BUSY: [], QUIET: []}
    heads = write_branches(place.path, tip, changed)
    run_housekeeping(place.path)
    database = open_database(settings)
    database.write(lambda db: db.update(projects, place.id, empty=False, generation=1))
    for first in range(0, REQUESTS, 1_000):
        database.write(partial(_add, project_id=place.id, first=first, heads=heads, tip=tip))
    database.write(partial(_add_totals, project_id=place.id))
    database.close()
    return FilledProject(FilledRepository(place.id, place.path, commits), heads)


def _state_of(iid: int) -> str:
    if iid > REQUESTS - OPEN:
        return "opened"
    return "closed" if iid % 5 == 0 else "merged"


def _add(db: Connection, project_id: int, first: int, heads: dict[str, str], tip: str) -> None:
    for iid in range(first + 1, first + 1_001):
        state, branch = _state_of(iid), f"open-{(iid - 1) % OPEN}"
        title, text = f"Bring number {iid}", "What it is good for. " * 10
        row: dict[str, Any] = {
            "target_project_id": project_id,
            "source_project_id": project_id,
            "source_branch": branch,
            "target_branch": BUSY if state == "opened" else "master",
            "author_id": 1,
            "head_oid": heads[branch],
            "merged_at": db.now if state == "merged" else None,
            "closed_at": db.now if state == "closed" else None,
        }
        flags = ("merge_when_pipeline_succeeds", "squash", "remove_source_branch", "discussion_locked")
        numbers = ("user_notes_count", "upvotes", "downvotes", "time_estimate", "total_time_spent")
        number = db.insert(
            merge_requests,
            iid=iid,
            state=state,
            title=title,
            title_key=title.casefold(),
            description=text,
            description_key=text.casefold(),
            created_at=db.now,
            updated_at=db.now,
            **row,
            **dict.fromkeys(flags, False),
            **dict.fromkeys(numbers, 0),
        )
        db.insert(
            merge_request_versions,
            merge_request_id=number,
            head_oid=heads[branch],
            base_oid=tip,
            start_oid=tip,
            state="collected",
            commits_count=1,
            files_count="1",
            pushed_by_id=1,
            created_at=db.now,
        )


def _add_totals(db: Connection, project_id: int) -> None:
    states = [_state_of(iid) for iid in range(1, REQUESTS + 1)]
    for state in sorted(set(states)):
        db.insert(merge_request_counts, project_id=project_id, state=state, count=states.count(state))
    db.insert(internal_ids, scope="project", scope_id=project_id, kind="merge_request", last=REQUESTS)


def measure_merge_requests(port: int, filled: FilledProject, seconds: float, rounds: int) -> Iterator[Measurement]:
    """Measure reads against F1, diffs and pushes against git, and interactive calls in milliseconds."""
    dice = random.Random(2)
    address, base = f"http://127.0.0.1:{port}", f"/api/v4/projects/{filled.place.id}/merge_requests"
    some = [f"{base}/{REQUESTS - dice.randrange(OPEN)}" for _ in range(64)]
    shares = {
        "one merge request": (0.20, some),
        "page of 20 merge requests": (0.08, [f"{base}?state=opened"]),
    }
    with httpx.Client(base_url=address, headers={"PRIVATE-TOKEN": TOKEN}, timeout=60) as client:
        for path in (*some, *shares["page of 20 merge requests"][1]):
            client.get(path).raise_for_status()  # Mergeability is computed once.
    constant = [get("/api/v4/bench")]
    for name, (least, paths) in shares.items():
        requests = [get(path, TOKEN) for path in paths]
        share = statistics.median(
            requests_per_second(port, requests, seconds) / requests_per_second(port, constant, seconds)
            for _ in range(rounds)
        )
        yield Measurement(f"{name} / F1", share, f">= {least:.2f}", share >= least)
    with httpx.Client(base_url=address, headers={"PRIVATE-TOKEN": TOKEN}, timeout=60) as client:
        yield _changes(client, base, filled.place, rounds)
        yield from _interactive_calls(client, base)
    yield _pushes(port, filled.place, rounds)


def _changes(client: httpx.Client, base: str, large: FilledRepository, rounds: int) -> Measurement:
    number = _open(client, base, "wide")["iid"]

    def ours() -> float:
        return _took(lambda: client.get(f"{base}/{number}/changes").raise_for_status())

    def theirs() -> float:
        command = ["git", "diff", "master...wide"]
        return _took(lambda: subprocess.run(command, cwd=large.path, env=ENV, capture_output=True, check=True))

    found = ratio(max(rounds, 9), ours, theirs)
    return Measurement(f"changes of {WIDE} files / git diff", found, "<= 1.50", found <= 1.5)


def _interactive_calls(client: httpx.Client, base: str) -> Iterator[Measurement]:
    opened: list[int] = []

    def open_one(number: int) -> None:
        opened.append(_open(client, base, f"fresh-{number}")["iid"])

    creating = _median([_took(partial(open_one, number)) for number in range(FRESH)])
    yield Measurement("opening one, ms", creating, "<= 150", creating <= 150)
    merging = _median([_took(partial(_merge, client, f"{base}/{iid}/merge")) for iid in opened])
    yield Measurement("merging one, ms", merging, "<= 100", merging <= 100)


def _open(client: httpx.Client, base: str, branch: str) -> dict[str, Any]:
    sent = {"source_branch": branch, "target_branch": "master", "title": f"Bring {branch}"}
    shown: dict[str, Any] = client.post(base, json=sent).raise_for_status().json()
    return shown


def _merge(client: httpx.Client, path: str) -> None:
    client.put(path).raise_for_status()


def _pushes(port: int, large: FilledRepository, rounds: int) -> Measurement:
    """Measure pushes to a branch that is the target of all open merge requests, and to one of none, in turns."""
    url = f"http://root:{TOKEN}@127.0.0.1:{port}/root/large.git"
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree.git"
        timed(Path(folder), ["clone", "-q", "--bare", "--no-local", f"file://{large.path}", str(tree)], {})
        tips = dict.fromkeys((BUSY, QUIET), large.commits[-1])

        def push(branch: str) -> float:
            args = ["git", "commit-tree", "-p", tips[branch], "-m", branch, f"{large.commits[-1]}^{{tree}}"]
            done = subprocess.run(args, cwd=tree, env={**ENV, **AUTHOR}, capture_output=True, check=True)
            tips[branch] = done.stdout.decode().strip()
            pushing = ["git", "push", "-q", url, f"{tips[branch]}:refs/heads/{branch}"]
            # Messages of the server are for users.
            return _took(lambda: subprocess.run(pushing, cwd=tree, env=ENV, check=True, stderr=subprocess.DEVNULL))

        found = ratio(8 * rounds, lambda: push(BUSY), lambda: push(QUIET))
        shutil.rmtree(tree)
    return Measurement(f"push with {OPEN} open / with none", found, "<= 1.10", found <= 1.10)


def _took(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _median(times: list[float]) -> float:
    return 1000 * statistics.median(times[len(times) // 6 :])
