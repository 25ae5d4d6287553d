"""Texts of chat messages, in the markup shared by Slack and Mattermost."""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from ingot.webhooks.payloads.parts import Payload

MAX_LENGTH = 4000
"""Length limit of quoted texts."""
_GREY, _ORANGE, _GOOD, _BAD = "#345", "#C95823", "good", "danger"
_WIKI = {"create": "created", "update": "edited", "delete": "deleted"}


class ChatMessage(NamedTuple):
    """A line of text and its attachments."""

    text: str
    attachments: list[Payload]


def chat_message(payload: Payload) -> ChatMessage | None:
    """Return the message for a payload, or None if chats are not notified of it."""
    build = _MESSAGES.get(payload["object_kind"])
    return None if build is None else build(payload)


def escape_text(text: str) -> str:
    """Escape a text so that it contains no links or mentions."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shorten(text: str) -> str:
    """Truncate a long text."""
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}…"


def chat_link(text: str, url: str) -> str:
    """Return a link in the markup of chats."""
    return f"<{quote(url, safe=_URL_SAFE_CHARACTERS)}|{escape_text(text).replace('|', '¦')}>"


_URL_SAFE_CHARACTERS = "/:?#[]@!$&'()*+,;=%~"


def _attachment(text: str | None, color: str, **more: str) -> Payload:
    escaped = escape_text(shorten(text or ""))
    return {**more, "text": escaped, "color": color, "fallback": escaped, "mrkdwn_in": ["text"]}


def _first_line(text: str | None) -> str:
    lines = (text or "").strip().splitlines()
    return escape_text(lines[0]) if lines else ""


def _project_link(payload: Payload) -> str:
    return chat_link(payload["project"]["path_with_namespace"], payload["project"]["web_url"])


def _user_name(payload: Payload) -> str:
    user = payload.get("user") or {}
    return escape_text(user.get("username") or payload.get("user_username") or payload.get("user_name") or "API")


def _push_message(payload: Payload) -> ChatMessage:
    kind = "tag" if payload["object_kind"] == "tag_push" else "branch"
    name = payload["ref"].split("/", 2)[2]
    web_url, user, project = payload["project"]["web_url"], _user_name(payload), _project_link(payload)
    link = chat_link(name, f"{web_url}/commits/{quote(name)}")
    if not payload["before"].strip("0"):
        return ChatMessage(f"{user} pushed new {kind} {link} to {project}", [])
    if not payload["after"].strip("0"):
        return ChatMessage(f"{user} removed {kind} {escape_text(name)} from {project}", [])
    compare = chat_link("Compare changes", f"{web_url}/compare/{payload['before']}...{payload['after']}")
    lines = [_commit_line(commit) for commit in payload["commits"]]
    attachments = [{"text": "\n".join(lines), "color": _GREY, "mrkdwn_in": ["text"]}] if lines else []
    return ChatMessage(f"{user} pushed to {kind} {link} of {project} ({compare})", attachments)


def _commit_line(commit: Payload) -> str:
    link = chat_link(commit["id"][:8], commit["url"])
    return f"{link}: {_first_line(commit['message'])} - {escape_text(commit['author']['name'])}"


def _issue_message(payload: Payload) -> ChatMessage:
    issue = payload["object_attributes"]
    title = f"#{issue['iid']} {issue['title']}"
    if issue["action"] == "open":
        attachment = _attachment(issue["description"], _ORANGE, title=escape_text(title), title_link=issue["url"])
        return ChatMessage(f"[{_project_link(payload)}] Issue opened by {_user_name(payload)}", [attachment])
    state = "reopened" if issue["action"] == "reopen" else issue["state"]
    return ChatMessage(
        f"[{_project_link(payload)}] Issue {chat_link(title, issue['url'])} {state} by {_user_name(payload)}", []
    )


def _merge_request_message(payload: Payload) -> ChatMessage:
    merge_request = payload["object_attributes"]
    title = chat_link(f"!{merge_request['iid']} {merge_request['title']}", merge_request["url"])
    state = "reopened" if merge_request.get("action") == "reopen" else merge_request["state"]
    return ChatMessage(f"{_user_name(payload)} {state} {title} in {_project_link(payload)}", [])


def _note_message(payload: Payload) -> ChatMessage | None:
    note = payload["object_attributes"]
    if note["system"]:
        return None
    target, title = _note_target(payload)
    link = chat_link(f"commented on {target}", note["url"])
    line = f"{_user_name(payload)} {link} in {_project_link(payload)}"
    return ChatMessage(f"{line}: *{title}*" if title else line, [_attachment(note["note"], _GREY)])


def _note_target(payload: Payload) -> tuple[str, str]:
    """Return the target of a note and its title; a commit may have been deleted."""
    note = payload["object_attributes"]
    kind = note["noteable_type"]
    if kind == "Commit":
        return f"commit {note['commit_id'][:8]}", _first_line((payload.get("commit") or {}).get("message"))
    word, sign, key, number = {
        "Issue": ("issue", "#", "issue", "iid"),
        "MergeRequest": ("merge request", "!", "merge_request", "iid"),
        "Snippet": ("snippet", "$", "snippet", "id"),
    }[kind]
    subject = payload.get(key) or {}
    return f"{word} {sign}{subject.get(number, '')}", _first_line(subject.get("title"))


def _pipeline_message(payload: Payload) -> ChatMessage:
    pipeline, web_url = payload["object_attributes"], payload["project"]["web_url"]
    passed = pipeline["status"] == "success"
    user = payload.get("user") or {}
    ref = pipeline["ref"]
    line = (
        f"{_project_link(payload)}: Pipeline {chat_link('#' + str(pipeline['id']), pipeline['url'])} of "
        f"{'tag' if pipeline['tag'] else 'branch'} {chat_link(ref, web_url + '/commits/' + quote(ref))} by "
        f"{escape_text(user.get('name') or 'API')} {'passed' if passed else 'failed'} in "
        f"{_duration_text(pipeline['duration'])}"
    )
    attachment = {"text": line, "color": _GOOD if passed else _BAD, "fallback": line, "mrkdwn_in": ["text"]}
    return ChatMessage("", [attachment])


def _duration_text(seconds: float | None) -> str:
    minutes, rest = divmod(int(seconds or 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def _wiki_page_message(payload: Payload) -> ChatMessage:
    page = payload["object_attributes"]
    verb = _WIKI.get(page["action"], "changed")
    link = chat_link("wiki page", page["url"])
    line = f"{_user_name(payload)} {verb} {link} in {_project_link(payload)}: *{escape_text(page['title'])}*"
    return ChatMessage(line, [] if page["action"] == "delete" else [_attachment(page["content"], _GREY)])


_MESSAGES: dict[str, Callable[[Payload], ChatMessage | None]] = {
    "push": _push_message,
    "tag_push": _push_message,
    "issue": _issue_message,
    "merge_request": _merge_request_message,
    "note": _note_message,
    "pipeline": _pipeline_message,
    "wiki_page": _wiki_page_message,
}
