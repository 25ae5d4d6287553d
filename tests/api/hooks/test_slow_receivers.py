"""Slow and hanging receivers do not delay others."""

import socket
import threading
import time
from collections import Counter
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler

import pytest

from ingot.webhooks.delivery import sender, shares
from ingot.webhooks.delivery.shares import DueHook, choose_hooks
from tests.api.hooks.conftest import HookedProject
from tests.api.hooks.receiver import DEADLINE_SECONDS, Answer
from tests.client import Api, Make
from tests.factories import make_group, make_project


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
    monkeypatch.setattr(shares, "MAX_WORKERS", 12)
    monkeypatch.setattr(shares, "MAX_FAILING_WORKERS", 1)
    for title in ("Second", "Third"):
        hooked.post("/issues", title=title)
    got = hooked.receiver.some(3)
    assert [each.body["object_attributes"]["title"] for each in got if each.path == hooked.path] == ["Second", "Third"]
    release.set()


@pytest.mark.parametrize("source", ["project", "namespace", "system"])
def test_new_hanging_hooks_leave_workers_for_other_projects(
    hooked: HookedProject, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """Attack: one owner adds more new hooks than there are workers, each with a receiver that accepts and hangs."""
    monkeypatch.setattr(shares, "MAX_WORKERS", 8)
    monkeypatch.setattr(sender, "DEADLINE_SECONDS", 600.0)
    owner = make.user()
    targets = [make_project(make, owner).url for _ in range(8 if source == "namespace" else 1)]
    hooks = [f"{url}/hooks" for url in targets] if source != "system" else ["/hooks"]
    caller = make.root if source == "system" else owner
    with ExitStack() as listeners:
        made = []
        for number in range(8):
            listener = listeners.enter_context(socket.create_server(("127.0.0.1", 0)))
            sent = {"url": f"http://127.0.0.1:{listener.getsockname()[1]}/", "push_events": True, "issues_events": True}
            answer = api.post(hooks[number % len(hooks)], caller, **sent)
            assert answer.status_code == 201, answer.text
            made.append(f"{hooks[number % len(hooks)]}/{answer.json()['id']}")
        make_project(make, owner)  # Triggers system hooks.
        for url in targets:
            assert api.post(f"{url}/issues", owner, title="Hangs").status_code == 201
        for title in ("First", "Second"):
            hooked.post("/issues", title=title)
        received = [hooked.next("Issue Hook")["object_attributes"]["title"] for _ in range(2)]
        assert received == ["First", "Second"]
        for hook in made:
            assert api.delete(hook, caller).status_code in (200, 204)


def test_one_hanging_receiver_of_many_projects_leaves_workers(
    hooked: HookedProject, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks of many owners name one receiver that hangs: only its share of the workers waits for it."""
    monkeypatch.setattr(shares, "MAX_WORKERS", 8)
    monkeypatch.setattr(sender, "DEADLINE_SECONDS", 600.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        targets = [make_project(make, make.user()).url for _ in range(8)]
        for url in targets:
            sent = {"url": f"http://127.0.0.1:{listener.getsockname()[1]}{url}", "issues_events": True}
            made = api.post(f"{url}/hooks", make.root, **sent)
            assert made.status_code == 201, made.text
            assert api.post(f"{url}/issues", make.root, title="Hangs").status_code == 201
        hooked.post("/issues", title="First")
        assert hooked.next("Issue Hook")["object_attributes"]["title"] == "First"


def test_the_share_of_a_namespace_leaves_workers_to_any_number_of_others() -> None:
    """A namespace gets a fifth of the workers, further ones get smaller shares, and one that has none gets the last."""
    hooks = [DueHook(100 * owner + number, False, owner, str(number)) for owner in range(20) for number in range(100)]
    running = choose_hooks(hooks, [])
    counts = Counter(hook.root_namespace_id for hook in running)
    assert counts[0] == shares.MAX_WORKERS // 5 + 1
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    assert len(counts) == 20
    newcomer = DueHook(9_999, False, 99, "other")
    assert choose_hooks([*hooks, newcomer], running) == [newcomer]


def test_the_groups_of_a_user_share_the_workers(
    hooked: HookedProject, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks of many groups of one user name receivers that hang: only the user's share of the workers waits."""
    monkeypatch.setattr(shares, "MAX_WORKERS", 8)
    monkeypatch.setattr(sender, "DEADLINE_SECONDS", 600.0)
    user = make.user()
    with ExitStack() as listeners:
        for _ in range(8):
            listener = listeners.enter_context(socket.create_server(("127.0.0.1", 0)))
            project = make_project(make, user, group=make_group(make, user))
            sent = {"url": f"http://127.0.0.1:{listener.getsockname()[1]}", "issues_events": True}
            assert api.post(f"{project.url}/hooks", user, **sent).status_code == 201
            assert api.post(f"{project.url}/issues", user, title="Hangs").status_code == 201
        hooked.post("/issues", title="First")
        assert hooked.next("Issue Hook")["object_attributes"]["title"] == "First"


def until_failed(api: Api, make: Make, hook: str) -> None:
    """Wait until a failure of a hook is recorded."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not api.get(f"{hook}/events", make.root, status="server_failure").json():
        assert time.monotonic() < deadline
