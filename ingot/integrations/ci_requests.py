"""Requests that start builds on external CI servers."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import msgspec

from ingot.git.history.commits import NO_OID
from ingot.webhooks.delivery.request import ServiceMessage
from ingot.webhooks.payloads.parts import Payload

Values = dict[str, Any]


def starts_build(payload: Payload) -> bool:
    """Check whether an event brings commits to build: a push, or new commits of an open merge request."""
    if payload["object_kind"] != "merge_request":
        return bool(payload["total_commits_count"] > 0 and payload["after"] != NO_OID)
    merge_request = payload["object_attributes"]
    has_commits = merge_request.get("action") in ("open", "reopen") or "oldrev" in merge_request
    return bool(has_commits and merge_request["state"] == "opened")


def buildkite_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return the event as a webhook of Buildkite, whose token begins with the secret of a pipeline."""
    token = quote(properties["token"].partition(":")[0], safe="")
    return [ServiceMessage(f"{base}/deliver/{token}", _encoded(payload))]


def drone_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return the event as a webhook of Drone."""
    owner, _, name = payload["project"]["path_with_namespace"].rpartition("/")
    token = quote(properties["token"], safe="")
    url = f"{base}/hook?owner={quote(owner)}&name={quote(name)}&access_token={token}"
    return [ServiceMessage(url, _encoded(payload))] if starts_build(payload) else []


def teamcity_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:
    """Return a request that adds a build of the branch to TeamCity's queue."""
    if not starts_build(payload):
        return []
    branch = (
        payload["object_attributes"]["source_branch"]
        if payload["object_kind"] == "merge_request"
        else payload["ref"].removeprefix("refs/heads/")
    )
    build = f"<buildType id={quoteattr(properties['build_type'])}/>"
    return [
        ServiceMessage(
            f"{base}/httpAuth/app/rest/buildQueue",
            f"<build branchName={quoteattr(branch)}>{build}</build>",
            content_type="application/xml",
            credentials=_credentials(properties),
        )
    ]


def bamboo_requests(base: str, properties: Values, payload: Payload) -> Sequence[ServiceMessage]:  # noqa: ARG001 - The signature of all services.
    """Return a request that updates the sources of a plan and builds it."""
    url = f"{base}/updateAndBuild.action?buildKey={quote(properties['build_key'], safe='')}"
    if not (properties.get("username") or properties.get("password")):
        return [ServiceMessage(url, "", "GET")]
    return [ServiceMessage(f"{url}&os_authType=basic", "", "GET", credentials=_credentials(properties))]


def _credentials(properties: Values) -> str:
    return f"{properties.get('username', '')}:{properties.get('password', '')}"


def _encoded(payload: Payload) -> str:
    return msgspec.json.encode(payload).decode()
