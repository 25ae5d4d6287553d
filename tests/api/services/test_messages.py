"""Texts of service messages, and blocked URLs, without a server."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from ingot.core.db.clocks import wall_clock
from ingot.core.db.vault import Vault
from ingot.core.outgoing.guard import SsrfGuard
from ingot.integrations.message_formats import MessageFormat, format_message
from ingot.integrations.messages import MAX_LENGTH
from ingot.webhooks.delivery.outcome import DeliveryOutcome
from ingot.webhooks.delivery.request import ServiceMessage
from ingot.webhooks.delivery.sender import HookSender
from ingot.webhooks.tables import EVENT_FLAGS, Delivery, Hook

URL = "https://hooks.example.com/way"
PROJECT = {"path_with_namespace": "g/p", "web_url": "https://here/g/p", "default_branch": "master"}
USER = {"username": "ann", "name": "Ann"}
MERGE_REQUEST = {"iid": 3, "title": "Do | it", "url": "https://here/g/p/merge_requests/3"}
NOTE = {"noteable_type": "MergeRequest", "system": False, "note": "Fine", "url": "https://here/n", "commit_id": ""}


def message(told: dict[str, Any], **outfit: Any) -> Any:
    """Return the body sent to a chat, or None."""
    messages = format_message(MessageFormat(URL, **outfit), {"project": PROJECT, "user": USER, **told})
    return msgspec.json.decode(messages[0].body) if messages else None


@pytest.mark.parametrize(
    ("action", "state", "word"),
    [
        ("open", "opened", "opened"),
        ("merge", "merged", "merged"),
        ("close", "closed", "closed"),
        ("reopen", "opened", "reopened"),
        ("update", "opened", None),
    ],
)
def test_merge_requests(action: str, state: str, word: str | None) -> None:
    """Built from the payload of hooks."""
    about = {**MERGE_REQUEST, "action": action, "state": state}
    body = message({"object_kind": "merge_request", "object_attributes": about}, channels={"merge_request": "#mr"})
    link = "<https://here/g/p/merge_requests/3|!3 Do ¦ it>"
    expected = {"text": f"ann {word} {link} in <https://here/g/p|g/p>", "attachments": [], "channel": "#mr"}
    assert body == (expected if word else None)


def test_notes_on_merge_requests_and_long_texts() -> None:
    told = {"object_kind": "note", "object_attributes": NOTE, "merge_request": MERGE_REQUEST}
    assert (
        message(told)["text"]
        == "ann <https://here/n|commented on merge request !3> in <https://here/g/p|g/p>: *Do | it*"
    )
    long = message({**told, "object_attributes": {**NOTE, "note": "<" * 10_000}})
    assert long["attachments"][0]["text"] == "&lt;" * MAX_LENGTH + "…"
    assert message({**told, "object_attributes": {**NOTE, "system": True}}) is None


@pytest.mark.parametrize("kind", ["build", "release", "deployment", "heard of never"])
def test_unsupported_events_send_nothing(kind: str) -> None:
    assert message({"object_kind": kind}) is None


def _format(settings: str, payload: str) -> Sequence[ServiceMessage]:
    return format_message(msgspec.json.decode(settings, type=MessageFormat), msgspec.json.decode(payload))


def send(outfit: MessageFormat, payload: dict[str, Any]) -> DeliveryOutcome:
    """Deliver to the URL of a service's hook with an address check that blocks local addresses."""
    vault = Vault(b"k" * 32)
    hook = Hook(
        id=1, kind="service", project_id=1, group_id=None, url="https://hooks.example.com:443/", credentials=None,
        token=None, signing_token=None, custom_headers=None, name=None, description=None, enable_ssl_verification=True,
        push_events_branch_filter=None, branch_filter_strategy="all_branches", failures=0, disabled_until=None,
        lease=None, leased_until=None, created_at=wall_clock(), service_id=1, url_variables=None,
        custom_webhook_template=None,
        outfit=vault.seal(msgspec.json.encode(outfit).decode()), **dict.fromkeys(EVENT_FLAGS, True),
    )  # fmt: skip
    told = msgspec.json.encode({"project": PROJECT, "user": USER, **payload}).decode()
    delivery = Delivery(1, 0, 1, "6f1b0f6e-0000-4000-8000-000000000000", "note_events", told, None)
    with ThreadPoolExecutor(1) as resolving:
        sender = HookSender(SsrfGuard(), vault, resolving, "https://here", wall_clock, _format)
        return asyncio.run(sender.send(hook, delivery, told))


def test_the_sealed_url_is_checked() -> None:
    """Attack: use the URL of a chat service to reach the internal network."""
    told = {"object_kind": "note", "object_attributes": NOTE, "merge_request": MERGE_REQUEST}
    for url in ("http://127.0.0.1:1/secret-way", "http://[::1]/secret-way", "http://169.254.169.254/secret-way"):
        outcome = send(MessageFormat(url), told)
        assert (outcome.status, outcome.state, outcome.silent) == (None, "failed", False)
        assert "blocked" in (outcome.error or "")
        assert "secret-way" not in str(outcome)


def test_events_without_a_message_send_no_request() -> None:
    outcome = send(MessageFormat("http://127.0.0.1:1/x"), {"object_kind": "release"})
    assert (outcome.silent, outcome.state, outcome.error) == (True, "done", None)
