"""Pages for a signed-in user: a project, a file, an issue and a merge request; large files and diffs."""

import re
import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx

from bench.load import get, requests_per_second
from bench.repositories import Measurement
from bench.user_data import TOKEN

PASSWORD = "-" * 9
MIN_SHARE = 0.03
MAX_MILLISECONDS = 50
_CODE = 'def tide_{0}(hour: int) -> float:\n    """How high the water is."""\n    return {0} * hour / 24.0\n\n\n'


class FilledPages(NamedTuple):
    """Paths to measure, and a session cookie."""

    cookie: str
    home: str
    file: str
    long_file: str
    issue: str
    merge_request: str
    large_changes: str


def fill_pages(port: int) -> FilledPages:
    """Create a project with files, an issue with a discussion, a merge request, and one of 200 files."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        client.headers["PRIVATE-TOKEN"] = TOKEN
        project = _post(client, "/projects", name="tidewatch", visibility="public", description="Tells the **tides**.")
        here, path = f"/projects/{project['id']}", f"/{project['path_with_namespace']}"
        files = {f"tides/part_{number}.py": _CODE.format(number) * 20 for number in range(40)}
        files |= {
            "README.md": "# Tidewatch\n\n" + "Some *words* about the water. " * 60,
            "long.py": _CODE.format(1) * 400,
        }
        _commit(client, here, "master", files)
        for number in range(20):
            issue = _post(client, f"{here}/issues", title=f"Leak number {number}", description="- [ ] find it\n" * 5)
        for number in range(20):
            _post(client, f"{here}/issues/{issue['iid']}/notes", body=f"What I **found** there, {number} times.")
        iids = []
        for branch, many in (("small", 5), ("large", 200)):
            changed = {f"{branch}/{number}.py": _CODE.format(number) * 10 for number in range(many)}
            _commit(client, here, branch, changed, start_branch="master")
            sent = {"source_branch": branch, "target_branch": "master", "title": f"The {branch} change"}
            iids.append(_post(client, f"{here}/merge_requests", **sent)["iid"])
        for number in range(10):
            _post(client, f"{here}/merge_requests/{iids[0]}/notes", body=f"Looks *good*, {number}")
        del client.headers["PRIVATE-TOKEN"]
        requests = f"{path}/-/merge_requests"
        return FilledPages(
            sign_in_cookie(client),
            path,
            f"{path}/-/blob/master/tides/part_3.py",
            f"{path}/-/blob/master/long.py",
            f"{path}/-/issues/{issue['iid']}",
            f"{requests}/{iids[0]}",
            f"{requests}/{iids[1]}/diffs",
        )


def _commit(client: httpx.Client, here: str, branch: str, files: dict[str, str], **more: str) -> None:
    actions = [{"action": "create", "file_path": name, "content": content} for name, content in files.items()]
    _post(client, f"{here}/repository/commits", branch=branch, commit_message=f"Fill {branch}", actions=actions, **more)


def _post(client: httpx.Client, path: str, **sent: Any) -> Any:
    answer = client.post(f"/api/v4{path}", json=sent)
    answer.raise_for_status()
    return answer.json()


def sign_in_cookie(client: httpx.Client) -> str:
    """Sign in as root; return the header with the cookie of the session."""
    page = client.get("/users/sign_in").text
    found = re.search(r'name="authenticity_token" value="([^"]+)"', page)
    assert found is not None
    form = {"authenticity_token": found[1], "user[login]": "root", "user[password]": PASSWORD}
    client.post("/users/sign_in", data=form)
    return f"_service_session={client.cookies['_service_session']}"


def measure_pages(port: int, filled: FilledPages, seconds: float, rounds: int) -> Iterator[Measurement]:
    """Measure pages as a share of F1, and the time of large ones when warm."""
    pages = {
        "project home": filled.home,
        "file page": filled.file,
        "issue page": filled.issue,
        "merge request page": filled.merge_request,
    }
    calls = {"F1": [get("/api/v4/bench")]}
    calls |= {name: [_with_cookie(path, filled.cookie)] for name, path in pages.items()}
    measured: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, requests in calls.items():
            measured[name].append(requests_per_second(port, requests, seconds))
    rate = {name: statistics.median(rates) for name, rates in measured.items()}
    for name in pages:
        share = rate[name] / rate["F1"]
        yield Measurement(
            f"{name} / F1", share, f">= {MIN_SHARE:.2f}", share >= MIN_SHARE, f"{rate[name]:.0f} a second"
        )
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Cookie": filled.cookie}) as client:
        for name, path in (("2,000-line file", filled.long_file), ("200-file diff", filled.large_changes)):
            took = _milliseconds(client, path)
            yield Measurement(f"{name}, ms", took, f"<= {MAX_MILLISECONDS}", took <= MAX_MILLISECONDS)


def _milliseconds(client: httpx.Client, path: str) -> float:
    times = []
    for _ in range(8):
        started = time.perf_counter()
        answer = client.get(path)
        times.append(time.perf_counter() - started)
        answer.raise_for_status()
    return statistics.median(times[2:]) * 1000


def _with_cookie(path: str, cookie: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode()
