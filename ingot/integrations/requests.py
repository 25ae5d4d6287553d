"""Table of the requests that services send about events, apart from chats with Slack's format."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from ingot.collaboration.merge_requests.queries import open_merge_requests_from
from ingot.core.db.database import Database
from ingot.integrations.chat_requests import (
    IRKER_PORT,
    campfire_requests,
    hipchat_requests,
    irker_requests,
    pushover_requests,
    teams_requests,
)
from ingot.integrations.ci_requests import bamboo_requests, buildkite_requests, drone_requests, teamcity_requests
from ingot.integrations.message_formats import MessageFormat, format_message
from ingot.integrations.tracker_requests import asana_requests, assembla_requests, pivotal_requests
from ingot.webhooks.delivery.request import ServiceMessage
from ingot.webhooks.payloads.parts import Payload

Values = dict[str, Any]


class RequestSettings(msgspec.Struct, frozen=True):
    """Settings of a service that sends requests, sealed in its webhook."""

    slug: str
    plain: Values
    secret: Values


class ServiceRequests(NamedTuple):
    """The requests of one service."""

    address: str
    """URL without a path, in which names of properties in braces are replaced by their values."""
    build: Callable[[str, Values, Payload], Sequence[ServiceMessage]]
    """Returns the requests about a payload, by address and properties."""
    prefers_merge_requests: bool = False
    """Whether pushes to branches with open merge requests are left to the events of these."""


REQUESTS = {
    "asana": ServiceRequests("https://app.asana.com/api/1.0", asana_requests),
    "assembla": ServiceRequests("https://atlas.assembla.com", assembla_requests),
    "bamboo": ServiceRequests("{bamboo_url}", bamboo_requests),
    "buildkite": ServiceRequests("https://webhook.buildkite.com", buildkite_requests),
    "campfire": ServiceRequests("https://{subdomain}.campfirenow.com", campfire_requests),
    "drone-ci": ServiceRequests("{drone_url}", drone_requests, prefers_merge_requests=True),
    "hipchat": ServiceRequests("{server}", hipchat_requests),
    "irker": ServiceRequests("http://{server_host}:{server_port}", irker_requests),
    "microsoft-teams": ServiceRequests("{webhook}", teams_requests),
    "pivotaltracker": ServiceRequests("https://www.pivotaltracker.com", pivotal_requests),
    "pushover": ServiceRequests("https://api.pushover.net", pushover_requests),
    "teamcity": ServiceRequests("{teamcity_url}", teamcity_requests, prefers_merge_requests=True),
}
DEFAULTS: Values = {
    "server": "https://api.hipchat.com",
    "server_host": "localhost",
    "server_port": IRKER_PORT,
    "subdomain": "www",
}
"""Values of properties that are not set."""


def service_address(slug: str, properties: Values) -> str:
    """Return the URL that a service sends its requests to, without the path."""
    address = REQUESTS[slug].address.format_map({**DEFAULTS, **properties}).rstrip("/")
    return address if "://" in address else f"https://{address}"


class RequestFormatter:
    """Conversion of payloads to the requests of services."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(self, settings_json: str, payload: str) -> Sequence[ServiceMessage]:
        """Return the requests of a service about a payload."""
        data: Payload = msgspec.json.decode(payload)
        settings = msgspec.json.decode(settings_json)
        if "slug" not in settings:
            return format_message(msgspec.convert(settings, MessageFormat), data)
        service = msgspec.convert(settings, RequestSettings)
        requests, properties = REQUESTS[service.slug], {**service.plain, **service.secret}
        if requests.prefers_merge_requests and data["object_kind"] == "push" and self._has_merge_request(data):
            return []
        messages = requests.build(service_address(service.slug, properties), properties, data)
        secrets = tuple(str(value) for value in service.secret.values())
        return [message._replace(secrets=secrets) for message in messages]

    def _has_merge_request(self, push: Payload) -> bool:
        branch = push["ref"].removeprefix("refs/heads/")
        return bool(self._database.read(lambda db: open_merge_requests_from(db, push["project_id"], [branch])))
