"""Growth of calls with the size of the data: each call in a small and in a large instance, in turns."""

import statistics
import subprocess
import time
from collections.abc import Iterator

import httpx

from bench.growth_data import BLAMED_FILE, COMMON_WORD, DEVELOPER_TOKEN, GUEST_TOKEN, GrowthData
from bench.pages import sign_in_cookie
from bench.repositories import Measurement

MAX_GROWTH = 3.0
"""Longest time in the large instance as a multiple of the time in the small one."""
_REPETITIONS = 15


def growth_paths(data: GrowthData) -> dict[str, tuple[str, str]]:
    """Return the path and the token of each call; those without a token are pages."""
    project, size = f"/api/v4/projects/{data.project_id}", data.size
    issues, last = f"{project}/issues", -(-size.issues // 20)
    by_developer = {
        "issues": issues,
        "issues, search": f"{issues}?search={COMMON_WORD}",
        "issues, search for two letters": f"{issues}?search=ha",
        "issues, labels": f"{issues}?labels=label-0",
        "issues, two labels": f"{issues}?labels=label-0,label-1",
        "issues, not[labels]": f"{issues}?not[labels]=label-0",
        "issues, labels=None": f"{issues}?labels=None",
        "issues, assignee_id": f"{issues}?assignee_id={data.developer_id}",
        "issues, assignee_id=None": f"{issues}?assignee_id=None",
        "issues, author_id": f"{issues}?author_id={data.developer_id}",
        "issues, last page": f"{issues}?page={last}",
        "issues of all projects": "/api/v4/issues?scope=all",
        "issues assigned to me": "/api/v4/issues?scope=assigned_to_me",
        "search of issues": f"/api/v4/search?scope=issues&search={COMMON_WORD}",
        "search of issues of a project": f"{project}/search?scope=issues&search={COMMON_WORD}",
        "issue counts": f"{project}/issues_statistics",
        "labels": f"{project}/labels?with_counts=true",
        "users of a project": f"{project}/users",
        "users of a project, search": f"{project}/users?search=sailor",
        "members": f"{project}/members",
        "members, last page": f"{project}/members?page={-(-size.members // 20)}",
        "members, query": f"{project}/members?query=sailor",
        "all members": f"{project}/members/all",
        "all members, query": f"{project}/members/all?query=sailor",
        "users": "/api/v4/users",
        "users, search": "/api/v4/users?search=sailor",
        "search of users": "/api/v4/search?scope=users&search=sailor",
        "search of users of a project": f"{project}/search?scope=users&search=sailor",
        "projects": "/api/v4/projects",
        "projects, search": "/api/v4/projects?search=project",
        "search of projects": "/api/v4/search?scope=projects&search=project",
        "commits": f"{project}/repository/commits",
        "commits, last page": f"{project}/repository/commits?page={-(-size.commits // 20)}",
        "blame": f"{project}/repository/files/{BLAMED_FILE}/blame?ref=master",
    }
    by_guest = {
        "issues, guest": issues,
        "issues, guest, search": f"{issues}?search={COMMON_WORD}",
        "issues, guest, labels": f"{issues}?labels=label-0",
    }
    pages = {
        "page of issues": f"/{data.full_path}/-/issues",
        "page of members": f"/{data.full_path}/-/project_members",
        "page of labels": f"/{data.full_path}/-/labels",
        "page of a project": f"/{data.full_path}",
    }
    return (
        {name: (path, DEVELOPER_TOKEN) for name, path in by_developer.items()}
        | {name: (path, GUEST_TOKEN) for name, path in by_guest.items()}
        | {name: (path, "") for name, path in pages.items()}
    )


def measure_growth(
    small: tuple[int, GrowthData], large: tuple[int, GrowthData], only: str = ""
) -> Iterator[Measurement]:
    """Measure each call on the ports of two servers; the database changes before each, as others write meanwhile."""
    clients = [_client(port) for port, _ in (small, large)]
    paths = [growth_paths(data) for _, data in (small, large)]
    cookies = [sign_in_cookie(client) for client in clients]
    for name in paths[0]:
        if only not in name:
            continue
        took: tuple[list[float], list[float]] = ([], [])
        for number in range(_REPETITIONS):
            for client, path, cookie, times in zip(clients, paths, cookies, took, strict=True):
                seconds = _seconds(client, *path[name], cookie)
                if number > 1:
                    times.append(1000 * seconds)
        before, after = (statistics.median(times) for times in took)
        growth = after / before
        note = f"{before:.1f} → {after:.1f} ms"
        yield Measurement(name, growth, f"<= {MAX_GROWTH:.2f}", growth <= MAX_GROWTH, note)
    for client in clients:
        client.close()
    yield _git_blame(small[1], large[1])


def _client(port: int) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)


def _seconds(client: httpx.Client, path: str, token: str, cookie: str) -> float:
    # A write in between, as in use: an idle database would answer from the cache of reads.
    client.post("/api/v4/bench").raise_for_status()
    headers = {"PRIVATE-TOKEN": token} if token else {"Cookie": cookie}
    started = time.perf_counter()
    client.get(path, headers=headers).raise_for_status()
    return time.perf_counter() - started


def _git_blame(small: GrowthData, large: GrowthData) -> Measurement:
    """Measure git's own blame, as a reference."""
    took = []
    for data in (small, large):
        times = []
        for _ in range(_REPETITIONS):
            started = time.perf_counter()
            command = ["git", "blame", "--porcelain", "master", "--", BLAMED_FILE]
            subprocess.run(command, cwd=data.repository, capture_output=True, check=True)
            times.append(1000 * (time.perf_counter() - started))
        took.append(statistics.median(times))
    return Measurement("git blame itself", took[1] / took[0], "-", True, f"{took[0]:.1f} → {took[1]:.1f} ms")
