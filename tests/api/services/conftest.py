"""Fixtures shared with tests of webhooks: a receiver, and a dispatcher that reaches it."""

from typing import Any

from ingot.integrations.registry import Integration, Property
from tests.api.hooks.conftest import clock, dispatcher, receiver, running_dispatcher

__all__ = ["clock", "dispatcher", "receiver", "running_dispatcher"]
SECRET = "s3cr3t-of-the-service"


def value_for(each: Property) -> Any:
    """Return a valid value for a field."""
    special = {"branches_to_be_notified": "all", "subdomain": "team-1", "default_irc_uri": "irc://irc.example.com"}
    if each.name == "recipients":
        return "one@example.com, two@example.com"
    if each.name in special:
        return special[each.name]
    return {
        "text": "some text",
        "secret": f"{SECRET}-{each.name}",
        "address": f"https://{each.name.replace('_', '-')}.example.com/:id",
        "server address": "chat.example.com",
        "host address": "gateway.example.com",
        "secret address": f"https://hooks.example.com/{SECRET}",
        "flag": True,
        "number": 7,
    }[each.kind]


def values_for(integration: Integration, *, required_only: bool = False) -> dict[str, Any]:
    """Return values for all fields of a service, or for the required ones."""
    values = {each.name: value_for(each) for each in integration.properties if each.required or not required_only}
    if integration.slug == "irker":  # Its gateway is a local address by default.
        values |= {"recipients": "irc://irc.example.com/#one two", "server_host": "gateway.example.com"}
    return values
