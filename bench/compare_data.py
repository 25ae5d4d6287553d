"""Data of two servers that are compared: equal projects, issues, merge requests, files and packages, by their APIs."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from bench.git_history import import_stream
from bench.pages import sign_in_cookie
from bench.user_data import TOKEN

_FILES = 60
LABELS = tuple(f"area-{number}" for number in range(12))
ISSUE_TEXT = (
    "## What happens\n\nAfter a **long** night the gauge of station {0} reports `null` (see #{1}), and the "
    "forecast of the next tide is missing.\n\n"
    + "The log says that the sensor answered too late, which the client takes for an empty answer. " * 4
    + "\n\n- [x] find out since when\n- [ ] write a test\n- [ ] repair it\n\n```python\nprint(gauge.read({0}))\n```\n"
)
CODE = 'def tide_{0}(hour: int) -> float:\n    """How high the water is."""\n    return {0} * hour / 24.0\n\n\n'


class DataSize(NamedTuple):
    """Numbers of what a server is filled with."""

    issues: int = 1_000
    merge_requests: int = 50
    projects: int = 50
    commits: int = 300


class FilledServer(NamedTuple):
    """Names and paths in a filled server that the calls use."""

    project: str
    """Path of the API of the project."""
    page: str
    issue: int
    merge_request: int
    commit: str
    cookie: str
    runner_token: str
    """Empty if the version has no runner protocol."""


def fill_compared(port: int, size: DataSize = DataSize()) -> FilledServer:  # noqa: B008 - It is immutable.
    """Fill a new server; every version since the first release knows these calls, except packages and runners."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        client.headers["PRIVATE-TOKEN"] = TOKEN
        for number in range(size.projects - 1):
            _post(client, "/projects", name=f"station-{number}", description=f"Station **{number}**")
        project = _post(client, "/projects", name="tides", visibility="public", description="Tells the **tides**.")
        here, page = f"/projects/{project['id']}", f"/{project['path_with_namespace']}"
        push_history(f"http://root:{TOKEN}@127.0.0.1:{port}{page}.git", size.commits)
        _add_issues(client, here, size.issues)
        _add_merge_requests(client, here, size.merge_requests)
        commit = client.get(f"/api/v4{here}/repository/commits").json()[0]["id"]
        for path, body in (("notes/1.0/small.txt", b"A small file\n"), ("notes/1.0/large.bin", bytes(2**20))):
            client.put(f"/api/v4{here}/packages/generic/{path}", content=body)
        runner = client.post("/api/v4/user/runners", json={"runner_type": "instance_type"})
        token = runner.json()["token"] if runner.status_code == 201 else ""
        del client.headers["PRIVATE-TOKEN"]
        cookie = sign_in_cookie(client)
        middle = size.issues // 2, size.merge_requests // 2
        return FilledServer(f"/api/v4{here}", page, *middle, commit, cookie, token)


def _add_issues(client: httpx.Client, here: str, how_many: int) -> None:
    for name in LABELS:
        _post(client, f"{here}/labels", name=name, color="#3366aa", description=f"About {name}")
    milestones = [_post(client, f"{here}/milestones", title=f"Spring tide {number}")["id"] for number in range(5)]
    for number in range(1, how_many + 1):
        labels = ",".join(LABELS[(number + step) % len(LABELS)] for step in range(3))
        sent = {"labels": labels, "milestone_id": milestones[number % 5], "assignee_ids": [1]}
        text = ISSUE_TEXT.format(number, max(1, number - 1))
        iid = _post(client, f"{here}/issues", title=f"Gauge {number} is silent", description=text, **sent)["iid"]
        if number % 10 == 0:
            _post(client, f"{here}/issues/{iid}/notes", body="It is silent *here* too.")
        if number % 4 == 0:
            client.put(f"/api/v4{here}/issues/{iid}", json={"state_event": "close"}).raise_for_status()
    for number in range(20):
        _post(client, f"{here}/issues/{how_many // 2}/notes", body=f"What I **found** there, {number} times.")


def _add_merge_requests(client: httpx.Client, here: str, how_many: int) -> None:
    for number in range(1, how_many + 1):
        branch = f"change-{number}"
        actions = [{"action": "create", "file_path": f"new/{number}.py", "content": CODE.format(number) * 10}]
        _post(
            client,
            f"{here}/repository/commits",
            branch=branch,
            start_branch="master",
            commit_message=f"Change {number}",
            actions=actions,
        )
        sent = {"source_branch": branch, "target_branch": "master", "labels": LABELS[number % 12], "assignee_id": 1}
        text = ISSUE_TEXT.format(number, number)
        _post(client, f"{here}/merge_requests", title=f"Read gauge {number} again", description=text, **sent)
    for number in range(10):
        _post(client, f"{here}/merge_requests/{how_many // 2}/notes", body=f"Looks *good*, {number}")


def push_history(url: str, commits: int) -> None:
    """Push the history to an empty repository."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        subprocess.run(["git", "init", "-q", "--bare", name], check=True)
        import_stream(path, _history(commits))
        subprocess.run(["git", "push", "-q", url, "refs/heads/master"], cwd=path, check=True)


def _history(commits: int) -> Iterator[bytes]:
    for number in range(1, commits + 1):
        message = b"Change %d\n\nBecause of %d.\n" % (number, number)
        yield b"commit refs/heads/master\ncommitter Ada <ada@example.org> %d +0000\n" % (1_600_000_000 + 600 * number)
        yield b"data %d\n" % len(message) + message
        for file in range(_FILES) if number == 1 else (number % _FILES, number * 7 % _FILES):
            content = (f"# Commit {number}\n" + CODE.format(file) * 20).encode()
            yield b"M 100644 inline tides/part_%d.py\ndata %d\n" % (file, len(content)) + content + b"\n"
        if number == 1:
            text = b"# Tides\n\n" + b"Some *words* about the water. " * 60
            yield b"M 100644 inline README.md\ndata %d\n" % len(text) + text + b"\n"
    yield b"done\n"


def _post(client: httpx.Client, path: str, **sent: Any) -> Any:
    answer = client.post(f"/api/v4{path}", json=sent)
    answer.raise_for_status()
    return answer.json()
