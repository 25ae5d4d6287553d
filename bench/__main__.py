"""Run all benchmarks and print each result with its target."""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.artifacts import measure_artifacts, start_job
from bench.graphql import measure_graphql
from bench.grow import measure_growth
from bench.growth_data import LARGE, SMALL, fill_growth
from bench.hooks import measure_hooks
from bench.imports import fill_import_source, measure_imports
from bench.issues import ISSUES, fill_issues, measure_issues
from bench.limits import measure_limits
from bench.load import get, requests_per_second
from bench.merge_requests import REQUESTS, fill_merge_requests, measure_merge_requests
from bench.namespace_data import fill_namespaces
from bench.packages import measure_packages
from bench.pages import PASSWORD, fill_pages, measure_pages
from bench.pipelines import measure_pipelines
from bench.process import first_visit_ratio, idle_figures, start_seconds
from bench.projects import SLOWEST, measure
from bench.repositories import fill_projects, measure_git, measure_reads, measure_single_calls
from bench.runners import fill_runners, measure_held_polls, measure_idle_runners, measure_runners
from bench.temporary_instances import test_server_figures
from bench.user_data import TOKEN, USER_TOKEN, fill
from bench.writes import measure_writes
from ingot.core.settings import Settings
from ingot.server.startup import initialize_instance

ROUNDS = 3
USERS = 10_000


@contextmanager
def _server(kind: str, data: Path, url: str) -> Iterator[int]:
    with _serving(kind, data, url) as (port, _):
        yield port


@contextmanager
def _serving(kind: str, data: Path, url: str) -> Iterator[tuple[int, int]]:
    command = [sys.executable, "-m", "bench.server", kind, str(data), url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline()), process.pid
    finally:
        process.terminate()
        process.wait(20)


def _line(name: str, value: float, wanted: str, met: bool, note: str = "") -> None:
    print(f"{'ok  ' if met else 'MISS'} {name:34} {value:9.2f}   wanted {wanted:12} {note}", flush=True)


def main() -> None:
    """Run all benchmarks."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--database-url", default="")
    parser.add_argument(
        "part",
        nargs="*",
        help="calls, projects, repositories, issues, merge_requests, pages, hooks, writes, grow, ci, graphql, "
        "packages, imports, limits, process; or all",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        settings = Settings(data=data, database_url=arguments.database_url, root_token=TOKEN, root_password="-" * 9)
        initialize_instance(settings)
        if not arguments.part or {"calls", "process"} & set(arguments.part):
            print(f"filling with {USERS} people", flush=True)
            fill(settings, USERS)
        parts: dict[str, Callable[[], None]] = {
            "calls": lambda: _measure_calls(data, arguments.database_url, arguments.seconds),
            "process": lambda: _measure_process(data),
        }
        if not arguments.database_url:
            parts["projects"] = lambda: _measure_projects(Path(folder), arguments.seconds)
            parts["repositories"] = lambda: _measure_repositories(Path(folder), arguments.seconds)
            parts["issues"] = lambda: _measure_issues(Path(folder), arguments.seconds)
            parts["merge_requests"] = lambda: _measure_merge_requests(Path(folder), arguments.seconds)
            parts["pages"] = lambda: _measure_pages(Path(folder), arguments.seconds)
            parts["hooks"] = lambda: _measure_hooks(Path(folder))
            parts["grow"] = lambda: _measure_growth(Path(folder))
            parts["ci"] = lambda: _measure_ci(Path(folder), arguments.seconds)
            parts["graphql"] = lambda: _measure_graphql(Path(folder))
            parts["packages"] = lambda: _measure_packages(Path(folder))
            parts["imports"] = lambda: _measure_imports(Path(folder))
            parts["limits"] = lambda: _measure_limits(Path(folder))
            parts["writes"] = lambda: _measure_writes(Path(folder), arguments.seconds)
        for name, measure_part in parts.items():
            if not arguments.part or name in arguments.part:
                measure_part()


def _measure_calls(data: Path, url: str, seconds: float) -> None:
    last_page = USERS - 400 * 20
    dice = random.Random(1)
    calls = {
        "F1": [get("/api/v4/bench")],
        "GET /user": [get("/api/v4/user", USER_TOKEN)],
        "GET /users/:id": [get(f"/api/v4/users/{dice.randint(3, USERS)}", TOKEN) for _ in range(64)],
        "GET /users": [get("/api/v4/users", TOKEN)],
        "keyset page 1": [get("/api/v4/users?pagination=keyset&order_by=id", TOKEN)],
        "keyset page 400": [get(f"/api/v4/users?pagination=keyset&order_by=id&id_before={last_page}", TOKEN)],
    }
    measured: dict[str, list[float]] = {name: [] for name in ("F0", *calls)}
    with _server("bare", data, url) as bare, _server("app", data, url) as app:
        for _ in range(ROUNDS):
            measured["F0"].append(requests_per_second(bare, calls["F1"], seconds))
            for name, requests in calls.items():
                measured[name].append(requests_per_second(app, requests, seconds))
    rate = {name: statistics.median(rates) for name, rates in measured.items()}
    print("requests/s: " + ", ".join(f"{name} {value:.0f}" for name, value in rate.items()))
    _line("F1 / F0", rate["F1"] / rate["F0"], ">= 0.40", rate["F1"] >= 0.40 * rate["F0"])
    for name, least in (("GET /user", 0.40), ("GET /users/:id", 0.35), ("GET /users", 0.15)):
        _line(f"{name} / F1", rate[name] / rate["F1"], f">= {least:.2f}", rate[name] >= least * rate["F1"])
    share = rate["keyset page 400"] / rate["keyset page 1"]
    _line("keyset page 400 / page 1", share, ">= 0.90", share >= 0.90)


def _measure_projects(folder: Path, seconds: float) -> None:
    filled = {}
    for how_many in (1_000, 10_000):
        data = folder / f"projects-{how_many}"
        settings = Settings(data=data, root_token=TOKEN, root_password="-" * 9)
        initialize_instance(settings)
        print(f"adding {how_many} projects", flush=True)
        filled[data] = fill_namespaces(settings, how_many)
    (small_folder, small), (large_folder, large) = filled.items()
    with _server("app", large_folder, "") as port, _server("app", small_folder, "") as other:
        measured = measure((port, large), (other, small), seconds, ROUNDS)
    for name, least in (("GET /projects/:id", 0.28), ("page as a member of 500", 0.06)):
        share = measured.shares[name]
        _line(f"{name} / F1", share, f">= {least:.2f}", share >= least)
    for name, slowdown in measured.slowdowns.items():
        _line(f"{name}, 10 x", slowdown, f"<= {SLOWEST:.2f}", slowdown <= SLOWEST)


def _measure_repositories(folder: Path, seconds: float) -> None:
    data = folder / "repositories"
    settings = Settings(data=data, root_token=TOKEN, root_password="-" * 9)
    initialize_instance(settings)
    print("writing a history of 20,000 commits", flush=True)
    with _serving("app", data, "") as (port, pid):
        large, bulk = fill_projects(settings, port)
        for finding in (
            *measure_reads(port, large, seconds, ROUNDS),
            *measure_single_calls(port, large, ROUNDS),
            *measure_git(settings, port, pid, large, bulk, ROUNDS),
        ):
            _line(*finding)


def _measure_issues(folder: Path, seconds: float) -> None:
    data = folder / "issues"
    settings = Settings(data=data, root_token=TOKEN, root_password="-" * 9)
    initialize_instance(settings)
    print(f"writing {ISSUES} issues", flush=True)
    with _server("app", data, "") as port:
        project_id = fill_issues(settings, port)
        for finding in measure_issues(port, project_id, seconds, ROUNDS):
            _line(*finding)


def _measure_merge_requests(folder: Path, seconds: float) -> None:
    data = folder / "merge_requests"
    settings = Settings(data=data, root_token=TOKEN, root_password="-" * 9)
    initialize_instance(settings)
    print(f"writing {REQUESTS} merge requests upon a history of 20,000 commits", flush=True)
    with _server("app", data, "") as port:
        filled = fill_merge_requests(settings, port)
        for finding in measure_merge_requests(port, filled, seconds, ROUNDS):
            _line(*finding)


def _measure_pages(folder: Path, seconds: float) -> None:
    data = folder / "pages"
    initialize_instance(Settings(data=data, root_token=TOKEN, root_password=PASSWORD))
    with _server("app", data, "") as port:
        filled = fill_pages(port)
        for finding in measure_pages(port, filled, seconds, ROUNDS):
            _line(*finding)
    pages = [filled.home, filled.issue, filled.merge_request, filled.file]
    ratio = statistics.median(first_visit_ratio(data, pages, filled.cookie) for _ in range(ROUNDS))
    _line("first visit / second visit", ratio, "<= 2.0", ratio <= 2.0)


def _measure_hooks(folder: Path) -> None:
    settings = Settings(data=folder / "hooks", root_token=TOKEN, root_password="-" * 9)
    initialize_instance(settings)
    for finding in measure_hooks(settings):
        _line(*finding)


def _measure_growth(folder: Path) -> None:
    filled = []
    for name, size in (("small", SMALL), ("large", LARGE)):
        settings = Settings(data=folder / f"grow-{name}", root_token=TOKEN, root_password=PASSWORD)
        initialize_instance(settings)
        print(f"filling with {size.issues} issues, {size.members} members and {size.commits} commits", flush=True)
        with _server("app", settings.data, "") as port:
            filled.append((settings.data, fill_growth(settings, port, size)))
    (small_folder, small), (large_folder, large) = filled
    with _server("app", small_folder, "") as port, _server("app", large_folder, "") as other:
        for finding in measure_growth((port, small), (other, large)):
            _line(*finding)


def _measure_ci(folder: Path, seconds: float) -> None:
    settings = Settings(data=folder / "ci", root_token=TOKEN, root_password="-" * 9)
    initialize_instance(settings)
    with _serving("runners", settings.data, "") as (port, pid):
        filled = fill_runners(settings, port)
        for finding in measure_runners(settings, port, pid, filled, seconds):
            _line(*finding)
    with _serving("app", settings.data, "") as (port, pid):
        for finding in (
            *measure_idle_runners(port, pid, filled.idle),
            *measure_pipelines(port),
            *measure_held_polls(port),
            *measure_artifacts(port, pid, start_job(port), folder, seconds),
        ):
            _line(*finding)


def _measure_graphql(folder: Path) -> None:
    settings = Settings(data=folder / "graphql", root_token=TOKEN, root_password="-" * 9)
    initialize_instance(settings)
    with _server("app", settings.data, "") as port:
        for finding in measure_graphql(port):
            _line(*finding)


def _measure_packages(folder: Path) -> None:
    settings = Settings(data=folder / "packages", root_token=TOKEN, root_password="-" * 9)
    initialize_instance(settings)
    with _server("app", settings.data, "") as port:
        for finding in measure_packages(port):
            _line(*finding)


def _measure_imports(folder: Path) -> None:
    source, destination = (
        Settings(data=folder / name, root_token=TOKEN, root_password="-" * 9) for name in ("source", "destination")
    )
    initialize_instance(source)
    initialize_instance(destination)
    print("filling a project with 5,000 issues", flush=True)
    with _server("app", source.data, "") as port:
        fill_import_source(source, port)
        for finding in measure_imports(port, destination):
            _line(*finding)


def _measure_limits(folder: Path) -> None:
    for finding in measure_limits(folder):
        _line(*finding)


def _measure_writes(folder: Path, seconds: float) -> None:
    settings = Settings(data=folder / "writes", root_token=TOKEN, root_password="-" * 9)
    initialize_instance(settings)
    for finding in measure_writes(settings, seconds, ROUNDS):
        _line(*finding)


def _measure_process(data: Path) -> None:
    with tempfile.TemporaryDirectory() as fresh:
        first = statistics.median(start_seconds(Path(fresh) / str(number)) for number in range(3))
    again = statistics.median(start_seconds(data) for _ in range(3))
    _line("first start, seconds", first, "<= 3.0", first <= 3.0)
    _line("start on existing data, seconds", again, "<= 1.5", again <= 1.5)
    megabytes, percent = idle_figures(data)
    _line("idle memory, 2 workers, MiB", megabytes, "<= 110", megabytes <= 110)
    _line("idle processor time, %", percent, "<= 0.3", percent <= 0.3)
    figures = test_server_figures()
    _line(
        "test server, processor seconds until it responds",
        figures.start_seconds,
        "<= 0.7",
        figures.start_seconds <= 0.7,
    )
    print(f"{figures.start_seconds / figures.empty_seconds:8.0f} times an empty `python -c pass`")
    _line("test server, memory, MiB", figures.megabytes, "<= 90", figures.megabytes <= 90)
    _line("reset of a small instance, ms", figures.reset_milliseconds, "<= 50", figures.reset_milliseconds <= 50)


if __name__ == "__main__":
    main()
