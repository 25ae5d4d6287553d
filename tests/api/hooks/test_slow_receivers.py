"""Slow and hanging receivers do not delay others."""

import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest

from ingot.integrations.webhooks.delivery import dispatcher as dispatching
from tests.api.hooks.conftest import Told
from tests.api.hooks.receiver import DEADLINE_SECONDS, Answer
from tests.client import Api, Make


def test_a_slow_receiver_delays_no_other_one(told: Told, api: Api, make: Make) -> None:
    """Attack: one receiver hangs; the other one receives all events in order."""
    release = threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        release.wait(DEADLINE_SECONDS)
        handler.send_response(200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    slow = f"/slow-{told.project.id}"
    told.receiver.answers[slow] = [hang]
    made = api.post(f"{told.url}/hooks", make.root, url=told.receiver.url(slow), issues_events=True)
    assert made.status_code == 201
    for number in range(8):
        told.post("/issues", title=f"Issue {number}")
    got = told.receiver.some(9)
    assert [each.path for each in got].count(slow) == 1
    titles = [each.body["object_attributes"]["title"] for each in got if each.path == told.path]
    assert titles == [f"Issue {number}" for number in range(8)]
    release.set()
    assert [each.body["object_attributes"]["title"] for each in told.receiver.some(7)] == titles[1:]


def test_receivers_that_hang_leave_room_for_others(
    told: Told, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: as many hooks hang as there are workers. Hooks that failed before share a part of the workers."""
    release, slow = threading.Event(), [f"/hanging-{told.project.id}-{number}" for number in range(3)]

    def hang(handler: BaseHTTPRequestHandler) -> None:
        release.wait(DEADLINE_SECONDS)
        handler.close_connection = True

    for path in slow:
        told.receiver.answers[path] = [Answer(500), hang]
        sent = {"url": told.receiver.url(path), "issues_events": True}
        assert api.post(f"{told.url}/hooks", make.root, **sent).status_code == 201
    told.post("/issues", title="First")
    assert {got.path for got in told.receiver.some(4)} == {*slow, told.path}
    for hook in api.get(f"{told.url}/hooks", make.root).json()[1:]:
        until_failed(api, make, f"{told.url}/hooks/{hook['id']}")
    monkeypatch.setattr(dispatching, "MAX_WORKERS", 3)
    monkeypatch.setattr(dispatching, "MAX_FAILING_WORKERS", 1)
    for title in ("Second", "Third"):
        told.post("/issues", title=title)
    got = told.receiver.some(3)
    assert [each.body["object_attributes"]["title"] for each in got if each.path == told.path] == ["Second", "Third"]
    release.set()


def until_failed(api: Api, make: Make, hook: str) -> None:
    """Wait until a failure of a hook is recorded."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not api.get(f"{hook}/events", make.root, status="server_failure").json():
        assert time.monotonic() < deadline
