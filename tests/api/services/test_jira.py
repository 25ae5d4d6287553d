"""Jira: comments and links for mentioned issues, and transitions of closed ones."""

import base64
import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from sqlalchemy import select, update

from ingot.core.jobs.tables import jobs
from ingot.core.log import Log
from ingot.integrations.jira_references import NOTIFY_JIRA
from ingot.server.jobs import job_worker
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, make_project

PASSWORD = "jira-password"
DONE = "31"
JOBS = select(jobs.c.payload, jobs.c.last_error).where(jobs.c.kind == NOTIFY_JIRA)
NOW = update(jobs).where(jobs.c.kind == NOTIFY_JIRA).values(run_at="2001-01-01T00:00:00.000Z")


class JiraServer:
    """Jira server with these issues, which records its requests."""

    def __init__(self, *keys: str) -> None:
        self.comments: dict[str, list[str]] = {key: [] for key in keys}
        self.links: dict[str, dict[str, Any]] = defaultdict(dict)
        self.solved: set[str] = set()
        self.asked: list[str] = []
        self.status: int | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self, None)

            def do_POST(self) -> None:
                outer._answer(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/jira"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler, sent: Any) -> None:
        secret = base64.b64encode(f"bot:{PASSWORD}".encode()).decode()
        assert handler.headers["Authorization"] == f"Basic {secret}"
        key, _, what = handler.path.removeprefix("/jira/rest/api/2/issue/").partition("?")[0].partition("/")
        self.asked.append(f"{handler.command} {key}/{what}")
        status, body = self.status or self._apply(key, what, sent), b"{}"
        if sent is None and status == 200:
            comments = {"comments": [{"body": text} for text in self.comments[key]]}
            resolution = {"name": "Done"} if key in self.solved else None
            body = json.dumps({"key": key, "fields": {"comment": comments, "resolution": resolution}}).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _apply(self, key: str, what: str, sent: Any) -> int:
        if key not in self.comments:
            return 404
        if what == "comment":
            self.comments[key].append(sent["body"])
        elif what == "remotelink":
            self.links[key][sent["globalId"]] = sent["object"]
        elif what == "transitions":
            if sent["transition"]["id"] != DONE:
                return 400
            self.solved.add(key)
        return 200 if sent is None else 201


class JiraProject:
    """Project connected to Jira."""

    def __init__(self, api: Api, make: Make, instance: Instance, server: JiraServer) -> None:
        self.project = make_project(make, initialize_with_readme=True)
        self.server = server
        self._api, self._make, self._root = api, make, make.root
        allowed = replace(instance.settings, allow_local_requests=True)
        self._workers = {
            local: job_worker(settings, instance.app.database, Log("json", instance.log))
            for local, settings in ((True, allowed), (False, instance.settings))
        }
        self.set()

    def set(self, **more: Any) -> None:
        """Configure the service."""
        known = {"url": self.server.url, "project_key": "KEY", "username": "bot", "password": PASSWORD}
        with changed_settings(self._make, allow_local_requests_from_web_hooks_and_services=True):
            made = self._api.put(f"{self.project.url}/services/jira", self._root, **{**known, **more})
        assert made.status_code == 200, made.text

    def post(self, path: str, /, **sent: Any) -> Any:
        """Create something in the project."""
        made = self._api.post(f"{self.project.url}{path}", self._root, **sent)
        assert made.status_code in (200, 201), made.text
        return made.json()

    def commit(self, message: str, branch: str = "master", **more: Any) -> str:
        """Commit a file."""
        action = {"action": "create", "file_path": message[:20], "content": "x"}
        made = self.post("/repository/commits", branch=branch, commit_message=message, actions=[action], **more)
        return str(made["id"])

    def work(self, *, local: bool = True) -> None:
        """Run the queued jobs."""
        while self._workers[local].run_once():
            pass


@pytest.fixture
def server() -> Iterator[JiraServer]:
    """Yield a Jira server."""
    server = JiraServer("KEY-1", "KEY-2", "KEY-3")
    yield server
    server.close()


@pytest.fixture
def jira_project(api: Api, make: Make, instance: Instance, server: JiraServer) -> JiraProject:
    """Return a project connected to it."""
    return JiraProject(api, make, instance, server)


def test_commits_that_mention_an_issue(jira_project: JiraProject, instance: Instance) -> None:
    """Once per commit, as a comment and a link; missing issues are skipped."""
    oid = jira_project.commit("See KEY-1 [x|y], KEY-99 and `KEY-2`", branch="work", start_branch="master")
    jira_project.work()
    url = f"{instance.url}/{jira_project.project.path}/commit/{oid}"
    (said,) = jira_project.server.comments["KEY-1"]
    assert said == (
        f"[Administrator|{instance.url}/root] mentions this issue in [a commit of {jira_project.project.path}|{url}]:\n"
        "'See KEY-1 \\[x\\|y\\], KEY-99 and `KEY-2`'"
    )
    assert jira_project.server.links["KEY-1"][url]["status"] == {"resolved": False}
    assert jira_project.server.comments["KEY-2"] == []
    assert not any("KEY-99/" in asked for asked in jira_project.server.asked if asked.startswith("POST"))
    jira_project.post("/repository/branches", branch="other", ref="work")
    jira_project.work()
    assert jira_project.server.comments["KEY-1"] == [said]


def test_commits_that_close_an_issue(jira_project: JiraProject) -> None:
    """On the default branch, by the configured transitions; without a valid one nothing is sent."""
    jira_project.set(jira_issue_transition_id=f"11, {DONE}")
    jira_project.commit("Closes KEY-1", branch="work", start_branch="master")
    jira_project.work()
    assert jira_project.server.solved == set()
    oid = jira_project.commit("Closes KEY-2")
    jira_project.work()
    assert jira_project.server.solved == {"KEY-2"}
    assert jira_project.server.comments["KEY-2"][1].startswith(f"Solved with [{oid}|")
    (link,) = jira_project.server.links["KEY-2"].values()
    assert link["status"] == {"resolved": True}
    jira_project.set(jira_issue_transition_id="11")
    jira_project.commit("Fixes KEY-3")
    jira_project.work()
    assert (jira_project.server.solved, len(jira_project.server.comments["KEY-3"])) == ({"KEY-2"}, 1)


def test_merge_requests(jira_project: JiraProject, api: Api, make: Make) -> None:
    """Mentions in them and their notes, except internal ones; merging closes."""
    jira_project.set(jira_issue_transition_id=DONE, commit_events=False)
    jira_project.commit("Mentions KEY-3", branch="work", start_branch="master")
    made = jira_project.post(
        "/merge_requests", source_branch="work", target_branch="master", title="Work", description="Fixes KEY-1"
    )
    url = f"/merge_requests/{made['iid']}"
    jira_project.post(f"{url}/notes", body="Like KEY-3", internal=True)
    jira_project.post(f"{url}/notes", body="Like KEY-2")
    jira_project.work()
    told = {key: len(said) for key, said in jira_project.server.comments.items()}
    assert (told, jira_project.server.solved) == ({"KEY-1": 1, "KEY-2": 1, "KEY-3": 0}, set())
    assert "a merge request of" in jira_project.server.comments["KEY-1"][0]
    assert api.put(f"{jira_project.project.url}{url}/merge", make.root).status_code == 200
    jira_project.work()
    assert (jira_project.server.solved, len(jira_project.server.comments["KEY-1"])) == ({"KEY-1"}, 2)


def test_failed_requests_are_retried(jira_project: JiraProject, make: Make) -> None:
    """Nothing is sent twice, and the password is not logged."""
    jira_project.server.status = 503
    jira_project.commit("See KEY-1")
    jira_project.work()
    assert jira_project.server.comments["KEY-1"] == []
    kept = make.database.read(lambda db: [str(row) for row in db.rows(JOBS)])
    assert len(kept) == 1
    assert "503" in kept[0]
    assert PASSWORD not in kept[0]
    jira_project.server.status = None
    for _ in range(2):
        make.database.write(lambda db: db.run(NOW))
        jira_project.work()
    assert len(jira_project.server.comments["KEY-1"]) == 1


@pytest.mark.parametrize("more", [{"commit_events": False}, {"active": False}, {"password": ""}, {"username": ""}])
def test_disabled_events_are_not_sent(jira_project: JiraProject, more: dict[str, Any]) -> None:
    """Without a user, issues are only linked."""
    jira_project.set(**more)
    jira_project.commit("See KEY-1")
    jira_project.work()
    assert jira_project.server.asked == []


def test_a_server_in_the_internal_network_is_not_reached(jira_project: JiraProject, instance: Instance) -> None:
    """Attack: a URL of an internal address is blocked, logged and not retried."""
    jira_project.commit("See KEY-1")
    jira_project.work(local=False)
    jira_project.work()
    assert jira_project.server.asked == []
    assert "jira request blocked" in instance.log.getvalue()
    assert PASSWORD not in instance.log.getvalue()


def test_comments_are_also_shown_beside_the_properties(api: Api, make: Make) -> None:
    path = f"{make_project(make).url}/integrations"
    assert api.get(f"{path}/jira", make.root).json()["comment_on_event_enabled"] is True
    sent = {"url": "https://jira.example", "username": "u", "password": PASSWORD, "comment_on_event_enabled": False}
    assert api.put(f"{path}/jira", make.root, **sent).json()["comment_on_event_enabled"] is False
    assert [each["comment_on_event_enabled"] for each in api.get(path, make.root).json()] == [False]
