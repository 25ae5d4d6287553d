"""Conversion of webhook payloads to requests to chat services."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.integrations.branches import notifies_branch
from ingot.integrations.messages import ChatMessage, chat_message
from ingot.webhooks.delivery.request import ServiceMessage
from ingot.webhooks.payloads.parts import Payload


class MessageFormat(msgspec.Struct, frozen=True, omit_defaults=True):
    """Settings of a chat service."""

    url: str
    username: str | None = None
    channel: str | None = None
    channels: dict[str, str] = {}
    """Channels that override the default, by event."""
    only_broken_pipelines: bool = True
    only_default_branch: bool = True
    """Applies to pipelines."""
    branches: str | None = None
    """Branches to be notified about; None for the default."""


def message_format(properties: dict[str, Any]) -> MessageFormat:
    """Return the settings of a chat service from its properties."""
    channels = {
        name.removesuffix("_channel"): value
        for name, value in properties.items()
        if name.endswith("_channel") and value
    }
    return MessageFormat(
        url=properties.get("webhook", ""),
        username=properties.get("username"),
        channel=properties.get("channel"),
        channels=channels,
        only_broken_pipelines=properties.get("notify_only_broken_pipelines", True),
        only_default_branch=properties.get("notify_only_default_branch", True),
        branches=properties.get("branches_to_be_notified"),
    )


def format_message(settings: MessageFormat, payload: Payload) -> Sequence[ServiceMessage]:
    """Return the request to a chat service; none if the settings exclude the event."""
    message = message_or_none(settings, payload)
    if message is None:
        return []
    return [ServiceMessage(settings.url, msgspec.json.encode(_request_body(settings, payload, message)).decode())]


def message_or_none(settings: MessageFormat, payload: Payload) -> ChatMessage | None:
    """Return the message about an event, or None if the settings exclude it."""
    return chat_message(payload) if _should_send(settings, payload) else None


def notifies_pipeline(settings: MessageFormat, status: str, ref: str, default: str | None, *, is_tag: bool) -> bool:
    """Check whether a service receives the result of a pipeline."""
    is_wanted = status == "failed" or (status == "success" and not settings.only_broken_pipelines)
    branches = settings.branches or ("default" if settings.only_default_branch else None)
    return is_wanted and (is_tag or notifies_branch(branches, ref, default))


def _should_send(message_format: MessageFormat, payload: Payload) -> bool:
    kind, attributes, default = (
        payload["object_kind"],
        payload.get("object_attributes", {}),
        payload["project"]["default_branch"],
    )
    if kind == "push":
        return notifies_branch(message_format.branches, payload["ref"].removeprefix("refs/heads/"), default)
    if kind == "pipeline":
        return notifies_pipeline(
            message_format, attributes["status"], attributes["ref"], default, is_tag=attributes["tag"]
        )
    # Opening, closing and merging also emit an update, which would cause a second message.
    return bool(attributes.get("action") != "update" or kind == "wiki_page")


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
