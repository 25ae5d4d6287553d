"""Deliveries of webhooks: headers, order, retries and the log."""

import base64
import hashlib
import hmac
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from sqlalchemy import bindparam, select

from ingot.core.db.times import to_datetime
from ingot.webhooks.delivery import outcome, sender
from ingot.webhooks.delivery.dispatcher import HookDispatcher
from ingot.webhooks.delivery.tables import hook_deliveries
from tests.api.hooks.conftest import Clock, HookedProject
from tests.api.hooks.receiver import DEADLINE_SECONDS, Answer
from tests.client import Api, Make
from tests.conftest import Instance

_STATES = (
    select(hook_deliveries.c.state, hook_deliveries.c.attempts, hook_deliveries.c.due_at)
    .where(hook_deliveries.c.hook_id == bindparam("hook"))
    .order_by(hook_deliveries.c.id)
)


class DeliveryLog:
    """Delivery log of a hook."""

    def __init__(self, hooked: HookedProject, api: Api, make: Make, instance: Instance) -> None:
        self._told, self._api, self._make, self._instance = hooked, api, make, instance

    def events(self, count: int) -> list[Any]:
        """Return the deliveries, oldest first, once there are at least this many."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while len(found := self._api.get(f"{self._told.hook}/events", self._make.root, per_page=100).json()) < count:
            assert time.monotonic() < deadline, found
        assert len(found) == count
        return list(found)[::-1]

    def states(self) -> list[tuple[str, int, str]]:
        """Return the states of the deliveries."""
        hook = int(self._told.hook.rpartition("/")[2])
        return self._instance.app.database.read(lambda db: db.rows(_STATES, hook=hook))

    def hook(self) -> Any:
        """Return the hook."""
        return self._api.get(self._told.hook, self._make.root).json()


@pytest.fixture
def log(hooked: HookedProject, api: Api, make: Make, instance: Instance) -> DeliveryLog:
    """Return the delivery log of the project's hook."""
    return DeliveryLog(hooked, api, make, instance)


@pytest.fixture(autouse=True)
def reset_clock(clock: Clock) -> Iterator[None]:
    """Reset the clock after the test."""
    yield
    clock.seconds = 0.0


def test_request_headers(hooked: HookedProject, instance: Instance) -> None:
    """The documented headers, an idempotency key for each message, and a signature if configured."""
    raw = b"0123456789abcdef0123456789abcdef"
    secrets = {"token": "tökén", "signing_token": "whsec_" + base64.b64encode(raw).decode()}
    url = hooked.receiver.url(hooked.path).replace("http://", "http://ada:p%40ss@")
    hooked.put(
        hooked.hook.removeprefix(hooked.url), url=url, custom_headers=[{"key": "X-Env", "value": "test"}], **secrets
    )
    hooked.post("/issues", title="One")
    got = hooked.receiver.next()
    headers = got.headers
    assert (headers["content-type"], headers["x-gitlab-event"]) == ("application/json", "Issue Hook")
    assert headers["x-gitlab-token"].encode("latin-1").decode() == "tökén"
    assert (headers["x-gitlab-instance"], headers["x-env"]) == (instance.url, "test")
    assert headers["authorization"] == "Basic " + base64.b64encode(b"ada:p@ss").decode()
    assert headers["webhook-id"] == headers["idempotency-key"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + got.raw
    digest = base64.b64encode(hmac.new(raw, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60

    hooked.post("/issues", title="Two")
    other = hooked.receiver.next().headers
    assert other["idempotency-key"] != headers["idempotency-key"]
    assert other["x-gitlab-event-uuid"] != headers["x-gitlab-event-uuid"]


def test_line_breaks_in_a_url_add_no_headers(hooked: HookedProject) -> None:
    """Attack: line breaks in the user, the path and the query of a URL stay encoded."""
    path = "/a%0d%0aX-Evil:%20b?c=%0d%0a%0d%0aPOST%20/d"
    url = hooked.receiver.url(path).replace("://", "://u%0d%0aX-Evil:%0d%0aX-Worse:%20p@")
    hooked.put(f"/hooks/{hooked.hook.rpartition('/')[2]}", url=url)
    hooked.post("/issues", title="One")
    got = hooked.receiver.next()
    assert got.path == path
    assert not {"x-evil", "x-worse"} & got.headers.keys()
    assert base64.b64decode(got.headers["authorization"].split()[1]) == b"u\r\nX-Evil:\r\nX-Worse: p"


def test_changing_the_url_clears_the_secrets(hooked: HookedProject) -> None:
    """Attack: a master who does not know the token redirects it to another server."""
    one = hooked.hook.removeprefix(hooked.url)
    hooked.put(
        one, url=hooked.receiver.url(hooked.path), token="secret", custom_headers=[{"key": "X-Key", "value": "secret"}]
    )
    hooked.put(one, url=hooked.receiver.url(hooked.path), issues_events=True)
    hooked.post("/issues", title="One")
    first = hooked.receiver.next().headers
    assert (first["x-gitlab-token"], first["x-key"]) == ("secret", "secret")
    hooked.put(one, url=hooked.receiver.url("/elsewhere"))
    hooked.post("/issues", title="Two")
    got = hooked.receiver.next()
    assert got.path == "/elsewhere"
    assert not {"x-gitlab-token", "x-key", "authorization", "webhook-signature"} & got.headers.keys()
    hooked.put(one, url=hooked.receiver.url("/third"), token="another")
    hooked.post("/issues", title="Three")
    assert hooked.receiver.next().headers["x-gitlab-token"] == "another"


def test_failed_deliveries_are_retried_and_block_no_others(
    hooked: HookedProject, log: DeliveryLog, clock: Clock, dispatcher: HookDispatcher
) -> None:
    """After their own delay, with the same idempotency key; later events are delivered at once."""
    hooked.receiver.answers[hooked.path] = [Answer(500, b"sorry"), Answer()]
    hooked.post("/issues", title="One")
    first = hooked.receiver.next()
    log.events(1)
    hooked.post("/issues", title="Two")
    assert hooked.receiver.next().body["object_attributes"]["title"] == "Two"
    log.events(2)
    assert [(state, attempts) for state, attempts, _ in log.states()] == [("waiting", 1), ("done", 1)]
    clock.seconds += 11
    dispatcher.wake()
    again = hooked.receiver.next()
    assert again.body == first.body
    assert again.headers["idempotency-key"] == first.headers["idempotency-key"]
    assert [(each["attempt"], each["response_status"]) for each in log.events(3)] == [
        (1, "500"),
        (1, "200"),
        (2, "200"),
    ]
    assert {state for state, _, _ in log.states()} == {"done"}


@pytest.mark.parametrize("status", [302, 400, 404, 410])
def test_rejected_deliveries_are_not_retried(hooked: HookedProject, log: DeliveryLog, status: int) -> None:
    """Redirects are never followed."""
    location = (("Location", hooked.receiver.url("/moved")),)
    hooked.receiver.answers[hooked.path] = [Answer(status, headers=location), Answer()]
    hooked.post("/issues", title="One")
    hooked.receiver.next()
    (event,) = log.events(1)
    assert event["response_status"] == str(status)
    hooked.post("/issues", title="Two")
    assert hooked.receiver.next().path == hooked.path
    log.events(2)
    assert [(state, attempts) for state, attempts, _ in log.states()] == [("failed", 1), ("done", 1)]


@pytest.mark.parametrize(
    ("wish", "least"), [("3000", 3000), ("Fri, 31 Dec 2100 23:59:59 GMT", 86_400), ("soon", 7), ("-5", 7)]
)
def test_retry_after_is_respected(hooked: HookedProject, log: DeliveryLog, clock: Clock, wish: str, least: int) -> None:
    """As seconds or as a date; at most a day."""
    hooked.receiver.answers[hooked.path] = [Answer(429, headers=(("Retry-After", wish),))]
    hooked.post("/issues", title="One")
    hooked.receiver.next()
    (event,) = log.events(1)
    ((state, _, due_at),) = log.states()
    waits = (to_datetime(due_at) - to_datetime(event["created_at"])).total_seconds()  # type: ignore[arg-type] # It is one.
    assert state == "waiting"
    assert least <= waits < least + 60
    assert clock.seconds == 0


def test_a_failing_hook_is_paused_and_then_tried(
    hooked: HookedProject, log: DeliveryLog, clock: Clock, dispatcher: HookDispatcher
) -> None:
    """The pause is visible; no event is lost, and waiting events are delivered in order."""
    hooked.receiver.answers[hooked.path] = [Answer(503)]
    for number in range(6):
        hooked.post("/issues", title=f"Issue {number}")
    hooked.receiver.some(4)
    log.events(4)
    hook = log.hook()
    assert hook["alert_status"] == "temporarily_disabled"
    assert (
        30 < (to_datetime(hook["disabled_until"]) - to_datetime(log.events(4)[-1]["created_at"])).total_seconds() <= 60
    )
    # When the pause ends, one delivery shows that the receiver still fails; then the pause is longer.
    clock.seconds += 61
    dispatcher.wake()
    assert hooked.receiver.next().body["object_attributes"]["title"] == "Issue 4"
    log.events(5)
    hooked.receiver.answers[hooked.path] = [Answer()]
    clock.seconds += 121
    dispatcher.wake()
    titles = [got.body["object_attributes"]["title"] for got in hooked.receiver.some(6)]
    assert titles == ["Issue 5", *(f"Issue {number}" for number in range(5))]
    log.events(11)
    assert (log.hook()["alert_status"], log.hook()["disabled_until"]) == ("executable", None)


def test_the_log_omits_huge_payloads(hooked: HookedProject, log: DeliveryLog) -> None:
    """A page of the log must fit into memory; the receiver still gets the whole payload."""
    hooked.post("/issues", title="Huge", description="x" * 300_000)
    assert len(hooked.next("Issue Hook")["object_attributes"]["description"]) == 300_000
    assert log.events(1)[0]["request_data"] == {"oversize": True}


def _endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Encoding", "gzip")
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"x" * 65536)
    except OSError:
        handler.close_connection = True


def _drip(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(600):
            handler.wfile.write(b"x")
            time.sleep(0.05)  # This is the attack.
    except OSError:
        pass
    handler.close_connection = True


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()
    handler.close_connection = True


def _nonsense(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n")
    handler.close_connection = True


def test_endless_responses_are_bounded(
    hooked: HookedProject, log: DeliveryLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: an endless response, or one byte at a time. Stored size and time are bounded."""
    monkeypatch.setattr(outcome, "FIRST_RETRY_SECONDS", 3600.0)
    hooked.receiver.answers[hooked.path] = [_endless, _drip, _reset, _nonsense, Answer(200, b"\x00\xff ok")]
    hooked.post("/issues", title="Endless")
    log.events(1)
    with monkeypatch.context() as short:
        short.setattr(sender, "DEADLINE_SECONDS", 1.0)
        hooked.post("/issues", title="Drip")
        log.events(2)
    hooked.post("/issues", title="Reset")
    bomb, drip, reset = log.events(3)
    assert (bomb["response_status"], len(bomb["response_body"])) == ("200", 64 * 1024)
    assert (drip["response_status"], drip["internal_error_message"]) == ("internal error", "The server took too long")
    assert reset["internal_error_message"]
    hooked.post("/issues", title="Nonsense")
    assert log.events(4)[-1]["internal_error_message"] == "The server's response is not valid HTTP"


def test_delivery_log_and_resending(hooked: HookedProject, log: DeliveryLog, api: Api, make: Make) -> None:
    """Attack: the log hides all secrets, also where the receiver echoes them."""
    one = hooked.hook.removeprefix(hooked.url)
    url = hooked.receiver.url(f"{hooked.path}?token=in-the-query").replace("http://", "http://ada:pass-word@")
    headers = [{"key": "X-Key", "value": "value-of-header"}]
    hooked.put(one, url=url, token="token-of-hook", signing_token="signing-token", custom_headers=headers)
    echo = b"You sent token-of-hook, value-of-header and signing-token with pass-word"
    answer = Answer(200, echo, (("X-Echo", "token-of-hook"), ("Set-Cookie", "session=1")))
    hooked.receiver.answers[f"{hooked.path}?token=in-the-query"] = [answer]
    hooked.post("/issues", title="One")
    first = hooked.receiver.next()
    (event,) = log.events(1)
    listed = api.get(f"/projects/{hooked.project.id}/hooks/{one.rpartition('/')[2]}/events", make.root)
    secrets = ("token-of-hook", "value-of-header", "signing-token", "pass-word", "session=1", "in-the-query")
    for secret in secrets:
        assert secret not in listed.text
    assert event["request_data"] == first.body
    assert event["request_headers"]["X-Gitlab-Event"] == "Issue Hook"
    assert event["request_headers"]["X-Gitlab-Token"] == "[REDACTED]"
    assert (event["trigger"], event["response_status"], event["attempt"]) == ("issue_hooks", "200", 1)
    assert event["response_body"].startswith("You sent")
    assert 0 < event["execution_duration"] <= sender.DEADLINE_SECONDS

    number = one.rpartition("/")[2]
    sent = api.post(f"/projects/{hooked.project.id}/hooks/{number}/events/{event['id']}/resend", make.root)
    assert sent.status_code == 201
    again = hooked.receiver.next()
    assert (again.body, again.headers["idempotency-key"]) == (first.body, first.headers["idempotency-key"])
    log.events(2)
    assert api.post(f"/projects/{hooked.project.id}/hooks/{number}/events/{2**40}/resend", make.root).status_code == 404
    place = f"{hooked.hook}/events"
    for status, count in (("200", 2), ("successful", 2), ("404", 0), ("server_failure", 0), ("internal error", 0)):
        assert len(api.get(place, make.root, status=status).json()) == count
    assert api.get(place, make.root, status="odd").status_code == 400


TRIGGERS = [
    "push_events",
    "tag_push_events",
    "issues_events",
    "note_events",
    "wiki_page_events",
    "releases_events",
    "pipeline_events",
    "job_events",
]


def test_test_deliveries(hooked: HookedProject, api: Api, make: Make) -> None:
    """Uses the newest object of a kind, or reports that there is none."""
    for trigger in (*TRIGGERS[1:], "merge_requests_events", "confidential_issues_events"):
        nothing = api.post(f"{hooked.hook}/test/{trigger}", make.root)
        assert nothing.status_code == 422, trigger
    assert api.post(f"{hooked.hook}/test/odd", make.root).status_code == 400
    issue = hooked.post("/issues", title="One")
    hooked.post(f"/issues/{issue['iid']}/notes", body="Note")
    hooked.post("/wikis", title="Page", content="Text")
    hooked.post("/releases", tag_name="v1", ref="master", description="First")
    oid = api.get(f"{hooked.url}/repository/commits", make.root).json()[0]["id"]
    hooked.post(f"/statuses/{oid}", state="success", ref="master")
    hooked.receiver.some(7)
    number = hooked.hook.rpartition("/")[2]
    for trigger in TRIGGERS:
        tested = api.post(f"/projects/{hooked.project.id}/hooks/{number}/test/{trigger}", make.root)
        assert (tested.status_code, tested.json()) == (201, {"message": "201 Created"}), tested.text
    kinds = [got.body["object_kind"] for got in hooked.receiver.some(len(TRIGGERS))]
    assert kinds == ["push", "tag_push", "issue", "note", "wiki_page", "release", "pipeline", "build"]


def test_a_deleted_hook_receives_nothing_more(hooked: HookedProject, api: Api, make: Make) -> None:
    """Including events that were still queued."""
    release = threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        release.wait(DEADLINE_SECONDS)
        handler.send_response(500)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    hooked.receiver.answers[hooked.path] = [hang, Answer()]
    hooked.post("/issues", title="One")
    hooked.receiver.next()
    hooked.post("/issues", title="Two")
    assert api.delete(hooked.hook, make.root).status_code == 200
    release.set()
    made = api.post(f"{hooked.url}/hooks", make.root, url=hooked.receiver.url("/new"), issues_events=True)
    assert made.status_code == 201
    hooked.post("/issues", title="Three")
    got = hooked.receiver.next()
    assert (got.path, got.body["object_attributes"]["title"]) == ("/new", "Three")
