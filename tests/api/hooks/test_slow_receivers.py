"""Slow and hanging receivers do not delay others."""

import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest

from ingot.integrations.webhooks.delivery import dispatcher as dispatching
from tests.api.hooks.conftest import HookedProject
from tests.api.hooks.receiver import DEADLINE_SECONDS, Answer
from tests.client import Api, Make


def test_a_hanging_receiver_delays_no_other(hooked: HookedProject, api: Api, make: Make) -> None:
    """Attack: one receiver hangs; the other one receives all events in order."""
    release = threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        release.wait(DEADLINE_SECONDS)
        handler.send_response(200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    slow = f"/slow-{hooked.project.id}"
    hooked.receiver.answers[slow] = [hang]
    made = api.post(f"{hooked.url}/hooks", make.root, url=hooked.receiver.url(slow), issues_events=True)
    assert made.status_code == 201
    for number in range(8):
        hooked.post("/issues", title=f"Issue {number}")
    got = hooked.receiver.some(9)
    assert [each.path for each in got].count(slow) == 1
    titles = [each.body["object_attributes"]["title"] for each in got if each.path == hooked.path]
    assert titles == [f"Issue {number}" for number in range(8)]
    release.set()
    assert [each.body["object_attributes"]["title"] for each in hooked.receiver.some(7)] == titles[1:]


def test_hanging_receivers_do_not_block_all_workers(
    hooked: HookedProject, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: as many hooks hang as there are workers. Hooks that failed before share a part of the workers."""
    release, slow = threading.Event(), [f"/hanging-{hooked.project.id}-{number}" for number in range(3)]

    def hang(handler: BaseHTTPRequestHandler) -> None:
        release.wait(DEADLINE_SECONDS)
        handler.close_connection = True

    for path in slow:
        hooked.receiver.answers[path] = [Answer(500), hang]
        sent = {"url": hooked.receiver.url(path), "issues_events": True}
        assert api.post(f"{hooked.url}/hooks", make.root, **sent).status_code == 201
    hooked.post("/issues", title="First")
    assert {got.path for got in hooked.receiver.some(4)} == {*slow, hooked.path}
    for hook in api.get(f"{hooked.url}/hooks", make.root).json()[1:]:
        until_failed(api, make, f"{hooked.url}/hooks/{hook['id']}")
    monkeypatch.setattr(dispatching, "MAX_WORKERS", 3)
    monkeypatch.setattr(dispatching, "MAX_FAILING_WORKERS", 1)
    for title in ("Second", "Third"):
        hooked.post("/issues", title=title)
    got = hooked.receiver.some(3)
    assert [each.body["object_attributes"]["title"] for each in got if each.path == hooked.path] == ["Second", "Third"]
    release.set()


def until_failed(api: Api, make: Make, hook: str) -> None:
    """Wait until a failure of a hook is recorded."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not api.get(f"{hook}/events", make.root, status="server_failure").json():
        assert time.monotonic() < deadline
