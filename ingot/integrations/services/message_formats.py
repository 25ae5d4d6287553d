"""What a hook wears that tells for a service: whom it tells, of what, and how that becomes a request."""

from typing import Any

import msgspec

from ingot.integrations.services.messages import ChatMessage, chat_message
from ingot.integrations.webhooks.delivery.request import IntegrationRequest
from ingot.integrations.webhooks.payloads.parts import Payload
from ingot.projects.services.branches import notifies_branch

_FINISHED_STATUSES = ("success", "failed")


class MessageFormat(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a service speaks in a chat."""

    url: str
    username: str | None = None
    channel: str | None = None
    channels: dict[str, str] = {}
    """Where else it speaks, by the event."""
    only_broken_pipelines: bool = True
    only_default_branch: bool = True
    """Of pipelines."""
    branches: str | None = None
    """Which ones it speaks of, where somebody said so."""


def message_format(properties: dict[str, Any]) -> MessageFormat:
    """What a service of chats knows, as its hook wears it."""
    channels = {
        name.removesuffix("_channel"): value
        for name, value in properties.items()
        if name.endswith("_channel") and value
    }
    return MessageFormat(
        url=properties["webhook"],
        username=properties.get("username"),
        channel=properties.get("channel"),
        channels=channels,
        only_broken_pipelines=properties.get("notify_only_broken_pipelines", True),
        only_default_branch=properties.get("notify_only_default_branch", True),
        branches=properties.get("branches_to_be_notified"),
    )


def format_request(outfit: str, payload: str) -> IntegrationRequest | None:
    """What is said in a chat about something that happened; nothing, where that is not worth a message."""
    wears = msgspec.json.decode(outfit, type=MessageFormat)
    told: Payload = msgspec.json.decode(payload)
    message = chat_message(told) if _should_send(wears, told) else None
    return (
        None
        if message is None
        else IntegrationRequest(wears.url, msgspec.json.encode(_request_body(wears, told, message)).decode())
    )


def _should_send(message_format: MessageFormat, payload: Payload) -> bool:
    kind, about, default = (
        payload["object_kind"],
        payload.get("object_attributes", {}),
        payload["project"]["default_branch"],
    )
    if kind == "push":
        return notifies_branch(message_format.branches, payload["ref"].removeprefix("refs/heads/"), default)
    if kind == "pipeline":
        broken = about["status"] == "failed" or not message_format.only_broken_pipelines
        asked = message_format.branches or ("default" if message_format.only_default_branch else None)
        near = about["tag"] or notifies_branch(asked, about["ref"], default)
        return bool(about["status"] in _FINISHED_STATUSES and broken and near)
    # What is opened, closed or merged is a change as well, which would be told twice.
    return bool(about.get("action") != "update" or kind == "wiki_page")


def _request_body(message_format: MessageFormat, payload: Payload, message: ChatMessage) -> Payload:
    event = payload["object_kind"]
    if payload.get("event_type", "").startswith("confidential_"):
        event = f"confidential_{event}"
    body: Payload = {"text": message.text, "attachments": message.attachments}
    channel = message_format.channels.get(event) or message_format.channel
    if channel:
        body["channel"] = channel
    if message_format.username:
        body["username"] = message_format.username
    return body
