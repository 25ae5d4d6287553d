"""What an endpoint is handed: the subject that its path names, once its rule allows it, and what was asked."""

from typing import Any

from ingot.access.rules import require
from ingot.api.paging import read_page
from ingot.api.routes import Call, Endpoint


def subject_of(endpoint: Endpoint, call: Call) -> list[Any]:
    """What the path names, where it names something, and the caller may do this to it."""
    if endpoint.on is None:
        return []
    here, subject = endpoint.on(call)
    if not endpoint.asks_caller_only:
        require(endpoint.may(call.actor, here, subject))
    return [subject]


def asked_of(endpoint: Endpoint, sent: dict[str, Any], params: Any) -> list[Any]:
    """The parameters and the page, where the endpoint takes them."""
    return [params] * (params is not None) + ([read_page(sent)] if endpoint.paged else [])
