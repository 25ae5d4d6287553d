"""What is said in a chat about something that happened, in the markup that Slack and Mattermost share."""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from ingot.hooks.payloads.parts import Payload

LONGEST = 4000
"""So much of what somebody wrote is shown."""
_GREY, _ORANGE, _GOOD, _BAD = "#345", "#C95823", "good", "danger"
_WIKI = {"create": "created", "update": "edited", "delete": "deleted"}


class Message(NamedTuple):
    """A line, and what stands below it."""

    text: str
    attachments: list[Payload]


def message_of(told: Payload) -> Message | None:
    """The message about it, or nothing for what chats are not told of."""
    build = _MESSAGES.get(told["object_kind"])
    return None if build is None else build(told)


def escaped(text: str) -> str:
    """A text in which nothing is a link or calls somebody."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _link(text: str, url: str) -> str:
    return f"<{quote(url, safe=_IN_URLS)}|{escaped(text).replace('|', '¦')}>"


_IN_URLS = "/:?#[]@!$&'()*+,;=%~"


def _said(text: str | None, color: str, **more: str) -> Payload:
    shown = escaped(shortened(text or ""))
    return {**more, "text": shown, "color": color, "fallback": shown, "mrkdwn_in": ["text"]}


def _first_line(text: str | None) -> str:
    lines = (text or "").strip().splitlines()
    return escaped(lines[0]) if lines else ""


def _project(told: Payload) -> str:
    return _link(told["project"]["path_with_namespace"], told["project"]["web_url"])


def _who(told: Payload) -> str:
    user = told.get("user") or {}
    return escaped(user.get("username") or told.get("user_username") or told.get("user_name") or "API")


def _push(told: Payload) -> Message:
    kind = "tag" if told["object_kind"] == "tag_push" else "branch"
    name = told["ref"].split("/", 2)[2]
    web_url, who, project = told["project"]["web_url"], _who(told), _project(told)
    there = _link(name, f"{web_url}/commits/{quote(name)}")
    if not told["before"].strip("0"):
        return Message(f"{who} pushed new {kind} {there} to {project}", [])
    if not told["after"].strip("0"):
        return Message(f"{who} removed {kind} {escaped(name)} from {project}", [])
    compare = _link("Compare changes", f"{web_url}/compare/{told['before']}...{told['after']}")
    lines = [_commit(commit) for commit in told["commits"]]
    attachments = [{"text": "\n".join(lines), "color": _GREY, "mrkdwn_in": ["text"]}] if lines else []
    return Message(f"{who} pushed to {kind} {there} of {project} ({compare})", attachments)


def _commit(commit: Payload) -> str:
    link = _link(commit["id"][:8], commit["url"])
    return f"{link}: {_first_line(commit['message'])} - {escaped(commit['author']['name'])}"


def _issue(told: Payload) -> Message:
    about = told["object_attributes"]
    title = f"#{about['iid']} {about['title']}"
    if about["action"] == "open":
        below = _said(about["description"], _ORANGE, title=escaped(title), title_link=about["url"])
        return Message(f"[{_project(told)}] Issue opened by {_who(told)}", [below])
    state = "reopened" if about["action"] == "reopen" else about["state"]
    return Message(f"[{_project(told)}] Issue {_link(title, about['url'])} {state} by {_who(told)}", [])


def _merge_request(told: Payload) -> Message:
    about = told["object_attributes"]
    title = _link(f"!{about['iid']} {about['title']}", about["url"])
    state = "reopened" if about.get("action") == "reopen" else about["state"]
    return Message(f"{_who(told)} {state} {title} in {_project(told)}", [])


def _note(told: Payload) -> Message | None:
    about = told["object_attributes"]
    if about["system"]:
        return None
    target, title = _target(told)
    link = _link(f"commented on {target}", about["url"])
    line = f"{_who(told)} {link} in {_project(told)}"
    return Message(f"{line}: *{title}*" if title else line, [_said(about["note"], _GREY)])


def _target(told: Payload) -> tuple[str, str]:
    """What a note is about, and its title; a commit may be gone by now."""
    about = told["object_attributes"]
    kind = about["noteable_type"]
    if kind == "Commit":
        return f"commit {about['commit_id'][:8]}", _first_line((told.get("commit") or {}).get("message"))
    word, sign, key, number = {
        "Issue": ("issue", "#", "issue", "iid"),
        "MergeRequest": ("merge request", "!", "merge_request", "iid"),
        "Snippet": ("snippet", "$", "snippet", "id"),
    }[kind]
    subject = told.get(key) or {}
    return f"{word} {sign}{subject.get(number, '')}", _first_line(subject.get("title"))


def _pipeline(told: Payload) -> Message:
    about, web_url = told["object_attributes"], told["project"]["web_url"]
    passed = about["status"] == "success"
    user = told.get("user") or {}
    line = (
        f"{_project(told)}: Pipeline {_link('#' + str(about['id']), about['url'])} of "
        f"{'tag' if about['tag'] else 'branch'} {_link(about['ref'], web_url + '/commits/' + quote(about['ref']))} by "
        f"{escaped(user.get('name') or 'API')} {'passed' if passed else 'failed'} in {_spent(about['duration'])}"
    )
    below = {"text": line, "color": _GOOD if passed else _BAD, "fallback": line, "mrkdwn_in": ["text"]}
    return Message("", [below])


def _spent(seconds: float | None) -> str:
    minutes, rest = divmod(int(seconds or 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def _wiki_page(told: Payload) -> Message:
    about = told["object_attributes"]
    did = _WIKI.get(about["action"], "changed")
    line = f"{_who(told)} {did} {_link('wiki page', about['url'])} in {_project(told)}: *{escaped(about['title'])}*"
    return Message(line, [] if about["action"] == "delete" else [_said(about["content"], _GREY)])


_MESSAGES: dict[str, Callable[[Payload], Message | None]] = {
    "push": _push,
    "tag_push": _push,
    "issue": _issue,
    "merge_request": _merge_request,
    "note": _note,
    "pipeline": _pipeline,
    "wiki_page": _wiki_page,
}
