"""Control endpoints of a server for tests: reset, snapshots, seed, clock, jobs and webhooks."""

from pathlib import Path

import httpx
import pytest

from tests.server.process import until
from tests.testing.temporary_server import TemporaryServer

SEED = """
users:
  - username: ada
  - username: bob
groups:
  - path: tools
    members: {ada: owner}
  - path: tools/metal
projects:
  - path: tools/hammer
    default_branch: main
    files: {README.md: "# Hammer", src/main.py: "print(1)"}
    branches: {feature: {src/main.py: "print(2)"}, empty: {}}
    tags: [v1]
    members: {bob: developer}
    labels: [bug]
    milestones: [First]
    issues:
      - {title: It breaks, author: bob, labels: [bug], comments: [Again]}
      - {title: Done, state: closed}
    merge_requests:
      - {title: Better, source_branch: feature, author: ada, state: merged}
    pipelines:
      - {ref: main, statuses: {build: success, test: failed}}
    hooks:
      - {events: [issues_events]}
  - path: notes
    owner: ada
"""


def test_every_call_needs_the_secret(server: TemporaryServer) -> None:
    for headers in ({}, {"X-Ingot-Testing": "wrong"}):
        assert httpx.post(f"{server.url}/-/testing/reset", headers=headers).status_code == 401
    assert server.control("POST", "nothing").status_code == 404
    assert server.control("GET", "reset").status_code == 405
    assert server.control("POST", "reset", json={"name": "unknown"}).status_code == 404
    assert server.api("GET", "/user").status_code == 200
    assert server.control("POST", "reset", json={"snapshot": "x"}).status_code == 400


def test_reset_removes_everything(server: TemporaryServer) -> None:
    created = server.api("POST", "/projects", json={"name": "code", "initialize_with_readme": True}).json()
    assert server.api("GET", f"/projects/{created['id']}/repository/tree").status_code == 200
    export = f"/projects/{created['id']}/export"
    server.api("POST", export)
    server.control("POST", "jobs/run")
    archive = server.api("GET", f"{export}/download")
    assert archive.status_code == 200
    server.control("POST", "faults", json={"status": 500})
    server.control("POST", "clock", json={"advance": 1000})
    assert server.control("POST", "reset").status_code == 204
    assert server.api("GET", "/projects").json() == []
    assert server.api("GET", f"/projects/{created['id']}/repository/tree").status_code == 404
    assert server.control("GET", "faults").json() == []
    again = server.api("POST", "/projects", json={"name": "code"}).json()
    assert again["id"] == created["id"], "ids begin with 1 again"
    assert server.api("GET", f"/projects/{again['id']}/repository/tree").status_code == 404
    assert server.api("GET", f"{export}/download").status_code == 404


def test_reset_to_a_snapshot_restores_rows_and_repositories(server: TemporaryServer) -> None:
    project = server.api("POST", "/projects", json={"name": "code", "initialize_with_readme": True}).json()
    files = f"/projects/{project['id']}/repository/files"
    change = {"branch": "master", "content": "v1", "commit_message": "one"}
    assert server.api("POST", f"{files}/kept.txt", json=change).status_code == 201
    assert server.control("POST", "snapshot", json={"name": "with a file"}).status_code == 204
    for _ in range(2):
        changed = server.api("PUT", f"{files}/kept.txt", json=change | {"content": "v2", "commit_message": "two"})
        assert changed.status_code == 200
        assert server.api("GET", f"{files}/kept.txt/raw?ref=master").text == "v2"
        assert server.control("POST", "reset", json={"name": "with a file"}).status_code == 204
        assert server.api("GET", f"{files}/kept.txt/raw?ref=master").text == "v1"
        commits = server.api("GET", f"/projects/{project['id']}/repository/commits").json()
        assert [commit["title"] for commit in commits] == ["one", "Initial commit"]
    server.control("POST", "reset")
    assert server.api("GET", "/projects").json() == []


def test_seed_creates_the_described_data(server: TemporaryServer) -> None:
    created = server.control("POST", "seed", content=SEED)
    assert created.status_code == 200, created.text
    seeded = created.json()
    hammer = f"/projects/{seeded['projects'][0]['id']}"
    ada = seeded["users"][0]["token"]
    assert server.api("GET", "/user", headers={"PRIVATE-TOKEN": ada}).json()["username"] == "ada"
    assert [group["full_path"] for group in seeded["groups"]] == ["tools", "tools/metal"]
    assert server.api("GET", f"{hammer}/repository/files/src%2Fmain.py/raw?ref=main").text == "print(2)"
    issues = server.api("GET", f"{hammer}/issues?order_by=created_at&sort=asc").json()
    assert [(issue["title"], issue["state"]) for issue in issues] == [("It breaks", "opened"), ("Done", "closed")]
    assert issues[0]["author"]["username"] == "bob" and issues[0]["labels"] == ["bug"]
    assert server.api("GET", f"{hammer}/merge_requests/1").json()["state"] == "merged"
    assert seeded["projects"][0]["pipelines"][0]["status"] == "failed"
    assert server.api("GET", "/projects/ada%2Fnotes").json()["owner"]["username"] == "ada"


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ("users: [{name: x}]", "username"),
        ("people: []", "people"),
        ("{", "not valid"),
        ("projects: [{path: no/such}]", "404"),
        ("groups: [{path: a, members: {root: king}}]", "king is not an access level"),
        ("projects: [{path: a, issues: [{title: b, state: lost}]}]", "lost"),
        ("projects: [{path: a, pipelines: [{statuses: {}}]}]", "statuses"),
        ("projects: [{path: a, hooks: [{events: [sunrise_events]}]}]", "sunrise_events is not an event"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_wrong_description_is_explained(server: TemporaryServer, description: str, message: str) -> None:
    refused = server.control("POST", "seed", content=description)
    assert refused.status_code == 400 and message in refused.json()["message"]


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("POST", "reset", 404, "There is no snapshot gone"),
        ("PUT", "clock", 405, "This control endpoint accepts GET, POST"),
        ("POST", "nothing", 404, "There is no such control endpoint"),
        ("GET", "requests?wait=inf", 400, "3600"),
        ("GET", "requests?wait=-1", 400, ">= 0"),
        ("GET", "requests?path=(", 400, "unterminated"),
        ("GET", "hooks?path=x", 400, "path"),
    ],
)
def test_a_wrong_call_is_explained(server: TemporaryServer, method: str, path: str, status: int, message: str) -> None:
    refused = server.control(method, path, **({"json": {"name": "gone"}} if path == "reset" else {}))
    assert refused.status_code == status and message in refused.json()["message"]


def test_the_clock_decides_times_and_expiry(server: TemporaryServer) -> None:
    frozen = server.control("POST", "clock", json={"set": "2030-01-31T12:00:00Z", "frozen": True})
    assert frozen.json() == {"now": "2030-01-31T12:00:00.000Z", "frozen": True}
    group = server.api("POST", "/groups", json={"name": "team", "path": "team"}).json()
    assert group["created_at"] == "2030-01-31T12:00:00.000Z"
    user = server.control("POST", "seed", json={"users": [{"username": "ada"}]}).json()["users"][0]
    member = {"user_id": user["id"], "access_level": 30, "expires_at": "2030-02-02"}
    assert server.api("POST", f"/groups/{group['id']}/members", json=member).status_code == 201
    as_ada = {"PRIVATE-TOKEN": user["token"]}
    assert server.api("GET", f"/groups/{group['id']}", headers=as_ada).status_code == 200
    assert server.control("POST", "clock", json={"advance": 3 * 86400}).json()["now"] == "2030-02-03T12:00:00.000Z"
    assert server.api("GET", f"/groups/{group['id']}", headers=as_ada).status_code == 404
    assert server.control("POST", "clock", json={"frozen": False}).json()["frozen"] is False
    for change in ({"set": "tomorrow"}, {"set": "0001-01-01"}, {"advance": 1e12}, {"advance": 1e300}):
        assert server.control("POST", "clock", json=change).status_code == 400


def test_webhooks_arrive_at_the_built_in_receiver(server: TemporaryServer) -> None:
    seeded = server.control("POST", "seed", content=SEED).json()
    hammer = f"/projects/{seeded['projects'][0]['id']}"
    server.api("POST", f"{hammer}/issues", json={"title": "Rust"})
    server.control("POST", "jobs/run")
    received = server.control("GET", "hooks").json()
    (delivery,) = [hook for hook in received["deliveries"] if hook["body"]["object_attributes"]["title"] == "Rust"]
    assert delivery["event"] == "Issue Hook" and delivery["receiver"] == "default"
    server.control("DELETE", "hooks")
    server.api("POST", f"{hammer}/issues", json={"title": "Later"})
    awaited = server.control("GET", "hooks", params={"wait": 30, "event": "Issue Hook"}).json()["deliveries"]
    assert [hook["body"]["object_attributes"]["title"] for hook in awaited] == ["Later"]
    assert httpx.post(f"{server.url}/-/testing/hooks/receive/guess/default").status_code == 401


def test_resets_leave_no_descriptors_or_threads_open(server: TemporaryServer) -> None:
    process = Path(f"/proc/{server.report['pid']}")

    def used() -> tuple[int, int]:
        return len(list((process / "fd").iterdir())), len(list((process / "task").iterdir()))

    def round_trip() -> None:
        server.control("POST", "seed", content=SEED)
        server.control("POST", "jobs/run")
        server.control("POST", "reset")

    for _ in range(2):
        round_trip()
    before = used()
    for _ in range(3):
        round_trip()
    until("the end of threads", lambda: used() <= (before[0] + 2, before[1] + 2))
