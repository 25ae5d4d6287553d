"""Fixtures for webhooks: a receiver, and a dispatcher that reaches it beside the server under test."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ingot.core.db.clocks import wall_clock
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.log import Log
from ingot.server.app import open_database
from ingot.server.jobs import hook_dispatcher
from ingot.webhooks.delivery.dispatcher import HookDispatcher
from tests.api.hooks.receiver import Receiver
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Yield a server that receives deliveries."""
    receiver = Receiver()
    yield receiver
    receiver.close()


class Clock:
    """Clock of the dispatcher, which tests can advance."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> Timestamp:
        return add_duration(wall_clock(), seconds=self.seconds)


@pytest.fixture(scope="module")
def clock() -> Clock:
    """Return the clock of the dispatcher."""
    return Clock()


@pytest.fixture(scope="module")
def running_dispatcher(instance: Instance, clock: Clock) -> Iterator[HookDispatcher]:
    """Yield a dispatcher that delivers the server's events, also to local addresses."""
    database = open_database(instance.settings, clock)
    allowed = replace(instance.settings, allow_local_requests=True)
    dispatcher = hook_dispatcher(allowed, database, Log("json", instance.log))
    dispatcher.start()
    yield dispatcher
    assert dispatcher.stop()
    database.close()


@pytest.fixture
def dispatcher(
    instance: Instance, running_dispatcher: HookDispatcher, monkeypatch: pytest.MonkeyPatch
) -> HookDispatcher:
    """Return a running dispatcher; during the test, hooks with local addresses can be saved."""
    allowed = replace(instance.settings, allow_local_requests=True)
    monkeypatch.setattr(instance.app.kernel._runner, "settings", allowed)
    return running_dispatcher


class HookedProject:
    """Project whose hook sends every event to a receiver."""

    def __init__(self, api: Api, make: Make, receiver: Receiver, **attributes: Any) -> None:
        self.receiver = receiver
        self.project = make_project(make, **attributes)
        self.url = self.project.url
        self._api = api
        self._root = make.root
        self.path = f"/{self.project.id}"
        made = api.post(f"{self.url}/hooks", make.root, url=receiver.url(self.path), **dict.fromkeys(ALL, True))
        assert made.status_code == 201, made.text
        self.hook = f"{self.url}/hooks/{made.json()['id']}"

    def next(self, header: str) -> Any:
        """Return the next payload, which must be of this kind."""
        got = self.receiver.next()
        assert (got.path, got.headers["x-gitlab-event"]) == (self.path, header)
        return got.body

    def post(self, path: str, /, **sent: Any) -> Any:
        """Create something in the project."""
        made = self._api.post(f"{self.url}{path}", self._root, **sent)
        assert made.status_code in (200, 201), made.text
        return made.json()

    def put(self, path: str, /, **sent: Any) -> Any:
        """Change something in the project."""
        changed = self._api.put(f"{self.url}{path}", self._root, **sent)
        assert changed.status_code == 200, changed.text
        return changed.json()

    def delete(self, path: str) -> None:
        """Delete something from the project."""
        assert self._api.delete(f"{self.url}{path}", self._root).status_code in (200, 202, 204)


ALL = (
    "push_events", "tag_push_events", "issues_events", "confidential_issues_events", "merge_requests_events",
    "note_events", "confidential_note_events", "job_events", "pipeline_events", "wiki_page_events", "releases_events",
    "milestone_events",
)  # fmt: skip


@pytest.fixture
def hooked(api: Api, make: Make, receiver: Receiver, dispatcher: HookDispatcher) -> HookedProject:
    """Return a project with a first commit, which was not delivered, and a hook for all events."""
    return HookedProject(api, make, receiver, initialize_with_readme=True)
