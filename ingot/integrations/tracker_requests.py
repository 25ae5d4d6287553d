"""Requests that report pushed commits to task and story trackers."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from ingot.webhooks.delivery.request import ServiceMessage
from ingot.webhooks.payloads.parts import Payload

Values = dict[str, Any]
MAX_TASKS = 20
"""Limit per push."""
_TASK = re.compile(
    r"(?P<closes>\b(?:fix\w*|clos[ei]\w*)\s+)?(?:https://app\.asana\.com/\d+/\w+/(?P<url>\w+)|#(?P<id>\w+))",
    re.IGNORECASE,
)
_NO_TASK = (400, 403, 404)


def asana_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return a comment for each task that a commit names, and the completion of those that it fixes or closes."""
    branch = payload["ref"].removeprefix("refs/heads/")
    if not _is_reported(properties, branch):
        return []
    messages: list[ServiceMessage] = []
    authorization = (("Authorization", f"Bearer {properties['api_key']}"),)
    named = [(commit, task) for commit in payload["commits"] for task in _TASK.finditer(commit["message"])]
    for commit, task in named[:MAX_TASKS]:
        url = f"{base}/tasks/{quote(task['url'] or task['id'], safe='')}"
        text = (
            f"{payload['user_name']} pushed to branch {branch} of {payload['project']['path_with_namespace']} "
            f"( {commit['url']} ): {commit['message']}"
        )
        # A number may be that of an issue of this server.
        story = ServiceMessage(
            f"{url}/stories", _encoded({"data": {"text": text}}), headers=authorization, accepted=_NO_TASK
        )
        messages.append(story)
        if task["closes"]:
            messages.append(story._replace(url=url, body=_encoded({"data": {"completed": True}}), method="PUT"))
    return messages


def assembla_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return the push for a space of Assembla."""
    space, key = quote(properties.get("subdomain", ""), safe=""), quote(properties["token"], safe="")
    return [ServiceMessage(f"{base}/spaces/{space}/github_tool?secret_key={key}", _encoded({"payload": payload}))]


def pivotal_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return a request for each commit."""
    if not _is_reported(properties, payload["ref"].removeprefix("refs/heads/")):
        return []
    commits = [
        {"commit_id": each["id"], "author": each["author"]["name"], "url": each["url"], "message": each["message"]}
        for each in payload["commits"]
    ]
    headers = (("X-TrackerToken", properties["token"]),)
    url = f"{base}/services/v5/source_commits"
    return [ServiceMessage(url, _encoded({"source_commit": commit}), headers=headers) for commit in commits]


def _is_reported(properties: Values, branch: str) -> bool:
    branches = [each.strip() for each in properties.get("restrict_to_branch", "").split(",") if each.strip()]
    return not branches or branch in branches


def _encoded(content: Payload) -> str:
    return msgspec.json.encode(content).decode()
