"""What a hook wears that tells for a service: whom it tells, of what, and how that becomes a request."""

from typing import Any

import msgspec

from ingot.announcements.messages import Message, message_of
from ingot.hooks.delivery.request import Dressed
from ingot.hooks.payloads.parts import Payload
from ingot.services.branches import wants_ref

_FINISHED = ("success", "failed")


class Outfit(msgspec.Struct, frozen=True, omit_defaults=True):
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


def outfit_of(properties: dict[str, Any]) -> Outfit:
    """What a service of chats knows, as its hook wears it."""
    channels = {
        name.removesuffix("_channel"): value
        for name, value in properties.items()
        if name.endswith("_channel") and value
    }
    return Outfit(
        url=properties["webhook"],
        username=properties.get("username"),
        channel=properties.get("channel"),
        channels=channels,
        only_broken_pipelines=properties.get("notify_only_broken_pipelines", True),
        only_default_branch=properties.get("notify_only_default_branch", True),
        branches=properties.get("branches_to_be_notified"),
    )


def dress(outfit: str, payload: str) -> Dressed | None:
    """What is said in a chat about something that happened; nothing, where that is not worth a message."""
    wears = msgspec.json.decode(outfit, type=Outfit)
    told: Payload = msgspec.json.decode(payload)
    message = message_of(told) if _is_wanted(wears, told) else None
    return None if message is None else Dressed(wears.url, msgspec.json.encode(_body(wears, told, message)).decode())


def _is_wanted(wears: Outfit, told: Payload) -> bool:
    kind, about, default = told["object_kind"], told.get("object_attributes", {}), told["project"]["default_branch"]
    if kind == "push":
        return wants_ref(wears.branches, told["ref"].removeprefix("refs/heads/"), default)
    if kind == "pipeline":
        broken = about["status"] == "failed" or not wears.only_broken_pipelines
        asked = wears.branches or ("default" if wears.only_default_branch else None)
        near = about["tag"] or wants_ref(asked, about["ref"], default)
        return bool(about["status"] in _FINISHED and broken and near)
    # What is opened, closed or merged is a change as well, which would be told twice.
    return bool(about.get("action") != "update" or kind == "wiki_page")


def _body(wears: Outfit, told: Payload, message: Message) -> Payload:
    event = told["object_kind"]
    if told.get("event_type", "").startswith("confidential_"):
        event = f"confidential_{event}"
    body: Payload = {"text": message.text, "attachments": message.attachments}
    channel = wears.channels.get(event) or wears.channel
    if channel:
        body["channel"] = channel
    if wears.username:
        body["username"] = wears.username
    return body
