"""Warm-up before the workers are forked: it renders pages of the instance, and leaves nothing open."""

import io
import threading

import pytest

from ingot.core.errors import Unavailable
from ingot.core.log import Log
from ingot.git.core import library
from ingot.server.app import App, open_database
from ingot.server.warm_up import warm_up
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Make
from tests.conftest import Instance


@pytest.fixture
def app(instance: Instance) -> App:
    return App(instance.settings, open_database(instance.settings), Log("json", io.StringIO()), None)


def test_pages_of_the_instance_are_rendered(
    app: App, instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = make.user()
    project = filled_project(make, owner, visibility="private")
    issue = make.api.post(f"{project.url}/issues", owner, title="One").json()
    request = make_merge_request(make, project, owner)
    rendered: list[str] = []
    render = app.pages._encoder.encode

    def recorded(reply: object, visit: object) -> object:
        rendered.append(visit.request.address)  # type: ignore[attr-defined] # It is a visit.
        return render(reply, visit)  # type: ignore[arg-type] # Likewise.

    monkeypatch.setattr(app.pages._encoder, "encode", recorded)
    monkeypatch.setattr("ingot.server.warm_up.MAX_SECONDS", 600.0)
    started: list[str] = []
    start, own_thread = threading.Thread.start, threading.current_thread()

    def recorded_start(thread: threading.Thread) -> None:
        if threading.current_thread() is own_thread and thread.name != "stalls":
            started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", recorded_start)
    before = threading.enumerate()
    warm_up(app)
    page = f"/{project.path}/-"
    assert {"/explore", f"{page}/issues", f"{page}/issues/{issue['iid']}"} <= set(rendered)
    assert f"{page}/merge_requests" in rendered, request
    assert started == [], "A thread would not exist in the processes that are forked."
    assert all(thread.name != "stalls" for thread in threading.enumerate() if thread not in before)
    assert [*app.database._readers._opened, *app.database._writers._opened] == []
    assert len(library._opened.by_path) == 0
    assert "_sites" in vars(app), "The first visitor of a site would wait for its modules."


def test_a_database_that_does_not_answer_does_not_stop_the_start(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise Unavailable("The database does not answer")

    monkeypatch.setattr(app, "reconcile", fail)
    warm_up(app)
    assert [record.getMessage() for record in caplog.records] == ["database not available at the start"]
