"""Requests to chats and devices that have formats of their own."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from ingot.git.history.commits import NO_OID
from ingot.integrations.message_formats import message_format, message_or_none
from ingot.webhooks.delivery.request import ServiceMessage
from ingot.webhooks.payloads.parts import Payload

Values = dict[str, Any]
MAX_IRC_COMMITS = 3
IRKER_PORT = 6659
_LINK = re.compile(r"<([^<>|]*)\|([^<>|]*)>")
_BOLD, _BLUE, _RED, _GREY, _URL, _BRANCH, _END = "\x02", "\x0312", "\x0304", "\x0314", "\x0302\x1f", "\x0305", "\x0f"


def teams_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:  # noqa: ARG001 - The signature of all services.
    """Return an adaptive card for Microsoft Teams."""
    message = message_or_none(message_format(properties), payload)
    if message is None:
        return []
    project = payload["project"]
    texts = [message.text, *(each.get("text", "") for each in message.attachments)]
    lines = [_markdown(text) for text in texts if text]
    blocks: list[Payload] = [
        {"type": "TextBlock", "text": project["path_with_namespace"], "weight": "bolder", "size": "medium"},
        *({"type": "TextBlock", "text": line, "wrap": True} for line in lines),
    ]
    card = {"type": "AdaptiveCard", "msteams": {"width": "Full"}, "version": "1.0", "body": blocks}
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return [ServiceMessage(properties["webhook"], _encoded({"type": "message", "attachments": [attachment]}))]


def hipchat_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return a message for a room of HipChat."""
    message = message_or_none(message_format({**properties, "notify_only_default_branch": False}), payload)
    if message is None:
        return []
    html = message.text
    for each in message.attachments:
        html += f"<pre>{each['text']}</pre>" if html else each["text"]
    color = properties.get("color") or "yellow"
    if payload["object_kind"] == "pipeline":
        color = "green" if payload["object_attributes"]["status"] == "success" else "red"
    content = {
        "from": "Ingot",
        "message": _LINK.sub(r'<a href="\1">\2</a>', html),
        "message_format": "html",
        "color": color,
        "notify": bool(properties.get("notify")),
    }
    room, token = properties.get("room", ""), properties["token"]
    if properties.get("api_version") == "v1":
        form = {**content, "room_id": room, "notify": int(content["notify"])}
        url = f"{base}/v1/rooms/message?auth_token={quote(token, safe='')}"
        return [ServiceMessage(url, urlencode(form), content_type="application/x-www-form-urlencoded")]
    url = f"{base}/v2/room/{quote(room, safe='')}/notification"
    return [ServiceMessage(url, _encoded(content), headers=(("Authorization", f"Bearer {token}"),))]


def campfire_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return a request for the rooms of an account, which is followed by a message to the one with the right name."""
    login = f"{properties['token']}:X"
    branch, project = payload["ref"].removeprefix("refs/heads/"), payload["project"]
    text = f"[{project['path_with_namespace']}] {payload['user_name']} "
    if payload["before"] == NO_OID:
        text += f"pushed new branch {branch}"
    elif payload["after"] == NO_OID:
        text += f"removed branch {branch}"
    else:
        compare = f"{project['web_url']}/compare/{payload['before']}...{payload['after']}"
        text += f"pushed {payload['total_commits_count']} commits to {branch}. {compare}"

    def speak(response: bytes) -> Sequence[ServiceMessage]:
        try:
            rooms = msgspec.json.decode(response, type=_Rooms).rooms
        except msgspec.MsgspecError:
            return []
        body = _encoded({"message": {"type": "TextMessage", "body": text}})
        return [
            ServiceMessage(f"{base}/room/{room.id}/speak.json", body, credentials=login)
            for room in rooms
            if room.name == properties.get("room")
        ][:1]

    return [ServiceMessage(f"{base}/rooms.json", "", "GET", credentials=login, follow=speak)]


class _Room(msgspec.Struct):
    id: int
    name: str


class _Rooms(msgspec.Struct):
    rooms: list[_Room]


def pushover_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return a notification for devices."""
    branch, project = payload["ref"].removeprefix("refs/heads/"), payload["project"]
    if payload["before"] == NO_OID:
        text = f'{payload["user_name"]} pushed new branch "{branch}".'
    elif payload["after"] == NO_OID:
        text = f'{payload["user_name"]} deleted branch "{branch}".'
    else:
        text = f'{payload["user_name"]} pushed to branch "{branch}".'
    if payload["total_commits_count"]:
        text += f"\nTotal commits count: {payload['total_commits_count']}"
    form = {
        "token": properties["api_key"],
        "user": properties["user_key"],
        "device": properties.get("device", ""),
        "priority": properties["priority"],
        "title": project["path_with_namespace"],
        "message": text,
        "url": project["web_url"],
        "url_title": f"See project {project['path_with_namespace']}",
        **({"sound": properties["sound"]} if properties.get("sound") else {}),
    }
    url = f"{base}/1/messages.json"
    return [ServiceMessage(url, urlencode(form), content_type="application/x-www-form-urlencoded")]


def irc_channels(recipients: str, default_uri: str | None) -> list[str]:
    """Return the addresses of channels, without those that are invalid even after the default one."""
    channels = []
    for recipient in recipients.split():
        candidates = [recipient, f"{(default_uri or '').rstrip('/')}/{recipient}"]
        channels += [each for each in candidates if urlsplit(each).scheme in ("irc", "ircs")][:1]
    return channels


def irker_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return lines for an Irker gateway: about a new or deleted branch, the number of commits, and the first ones."""
    is_colored = bool(properties.get("colorize_messages"))

    def paint(color: str, text: str) -> str:
        return f"{color}{text}{_END}" if is_colored else text

    project, user = payload["project"], payload["user_name"]
    repository, name = paint(_RED, project["name"]), payload["ref"].removeprefix("refs/heads/")
    branch, count = paint(_BRANCH, name), payload["total_commits_count"]
    lines = []
    compare = f"{project['web_url']}/compare/{payload['before'][:8]}...{payload['after'][:8]}"
    if payload["before"] == NO_OID:
        compare = f"{project['web_url']}/commits/{quote(name)}"
        branches = paint(_URL, f"{project['web_url']}/-/branches")
        lines.append(f"[{repository}] {user} has created a new branch {branch}: {branches}")
    elif payload["after"] == NO_OID:
        lines.append(f"[{repository}] {user} has deleted the branch {branch}")
    if count:
        commits = f"{paint(_BOLD, str(count))} new commit{'s' if count > 1 else ''}"
        lines.append(f"[{repository}] {user} pushed {commits} to {branch}: {paint(_URL, compare)}")
    for commit in payload["commits"][:MAX_IRC_COMMITS]:
        files = sum(len(commit[change]) for change in ("added", "modified", "removed"))
        total = paint(_BLUE, f"{files} file{'s' if files > 1 else ''}")
        author, title = commit["author"]["name"], commit["title"]
        lines.append(f"{repository}/{branch} {paint(_GREY, commit['id'][:8])} {author} ({total}): {title}")
    channels = irc_channels(properties["recipients"], properties.get("default_irc_uri"))
    body = "".join(f"{_encoded({'to': channels, 'privmsg': line})}\n" for line in lines)
    return [ServiceMessage(base, body, "bytes")]


def _markdown(text: str) -> str:
    """Return a text in the chats' markup as Markdown, in which users' texts contain no links."""
    parts = []
    for position, part in enumerate(_LINK.split(text)):
        kind = position % 3
        plain = part if kind == 1 else unescape(part).replace("[", "\\[").replace("]", "\\]")
        parts.append((plain, f"({plain})", f"[{plain}]")[kind])
    # Names follow their addresses in the chats' markup.
    for position in range(1, len(parts), 3):
        parts[position], parts[position + 1] = parts[position + 1], parts[position]
    return "".join(parts)


def _encoded(content: Payload) -> str:
    return msgspec.json.encode(content).decode()
