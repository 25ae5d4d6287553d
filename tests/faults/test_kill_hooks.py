"""Killing or stopping all processes while webhooks are queued: no event is lost."""

import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from tests.api.hooks.receiver import DEADLINE_SECONDS, Answer, Receiver
from tests.server.process import Server, until

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "3"))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Yield a server that receives deliveries and is not killed."""
    receiver = Receiver()
    yield receiver
    receiver.close()


def create_hooked_project(server: Server, receiver: Receiver, *paths: str) -> int:
    """Return a project with a hook for issues."""
    server.start(INGOT_ALLOW_LOCAL_REQUESTS="1")
    project: int = server.call("POST", "/projects", json={"name": "told"}).json()["id"]
    for path in paths:
        sent = {"url": receiver.url(path), "issues_events": True}
        assert server.call("POST", f"/projects/{project}/hooks", json=sent).status_code == 201
    return project


def write(server: Server, project: int, title: str) -> None:
    """Open an issue; it must be acknowledged."""
    assert server.call("POST", f"/projects/{project}/issues", json={"title": title}).status_code == 201


def test_killed_after_the_response(stopped: Server, receiver: Receiver) -> None:
    """Hooks and chats receive all acknowledged events in order, with idempotency keys for duplicates."""
    project = create_hooked_project(stopped, receiver, "/one", "/two")
    chat = {"webhook": receiver.url("/chat")}
    assert stopped.call("PUT", f"/projects/{project}/services/slack", json=chat).status_code == 200
    for number in range(ROUNDS):
        write(stopped, project, f"{number}-a")
        write(stopped, project, f"{number}-b")
        stopped.kill()
        stopped.start(INGOT_ALLOW_LOCAL_REQUESTS="1")
    write(stopped, project, "last")
    heard: dict[str, list[str]] = defaultdict(list)
    keys: dict[tuple[str, str], set[str]] = defaultdict(set)
    wanted = [f"{number}-{each}" for number in range(ROUNDS) for each in "ab"] + ["last"]
    paths = ("/one", "/two", "/chat")
    while not all(heard[path][-1:] == ["last"] for path in paths):
        got = receiver.next()
        # A chat gets the same event as text: the title follows the number.
        title = (
            got.body["attachments"][0]["title"].split(" ", 1)[1]
            if got.path == "/chat"
            else got.body["object_attributes"]["title"]
        )
        if title not in heard[got.path]:
            heard[got.path].append(title)
        keys[got.path, title].add(got.headers["idempotency-key"])
    assert dict(heard) == dict.fromkeys(paths, wanted)
    assert {len(each) for each in keys.values()} == {1}
    assert len({key for each in keys.values() for key in each}) == len(keys)


def test_sigterm_during_a_delivery(stopped: Server, receiver: Receiver) -> None:
    """The server exits in time although the receiver hangs, and delivers again after its restart."""
    release = threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        release.wait(DEADLINE_SECONDS)
        handler.close_connection = True

    project = create_hooked_project(stopped, receiver, "/slow", "/quick")
    receiver.answers["/slow"] = [hang, Answer()]
    write(stopped, project, "One")
    first = {got.path: got for got in receiver.some(2)}
    assert stopped.stop() == 0
    release.set()
    stopped.start(INGOT_ALLOW_LOCAL_REQUESTS="1")
    again = receiver.next()
    assert again.path == "/slow"
    assert again.raw == first["/slow"].raw
    assert again.headers["idempotency-key"] == first["/slow"].headers["idempotency-key"]
    hooks = stopped.call("GET", f"/projects/{project}/hooks").json()
    slow = next(hook for hook in hooks if hook["url"].endswith("/slow"))

    def attempts() -> list[int]:
        listed = stopped.call("GET", f"/projects/{project}/hooks/{slow['id']}/events").json()
        return [event["attempt"] for event in listed]

    assert until("the log", attempts) == [1]
