"""What an endpoint is handed: the subject that its path names, once its rule allows it, and what was asked."""

from typing import Any

from ingot.access.rules import require
from ingot.api.paging import read_page
from ingot.api.routes import Call, Endpoint

Finds = dict[Any, Any]
"""What finders found already, for who asks several endpoints about the same within one read."""


def subject_of(endpoint: Endpoint, call: Call, known: Finds | None = None) -> list[Any]:
    """What the path names, where it names something, and the caller may do this to it."""
    if endpoint.on is None:
        return []
    if known is None:
        here, subject = endpoint.on(call)
    else:
        key = endpoint.on, *call.path.items()
        if key not in known:
            known[key] = endpoint.on(call)
        here, subject = known[key]
    if not endpoint.asks_caller_only:
        require(endpoint.may(call.actor, here, subject))
    return [subject]


def asked_of(endpoint: Endpoint, sent: dict[str, Any], params: Any) -> list[Any]:
    """The parameters and the page, where the endpoint takes them."""
    return [params] * (params is not None) + ([read_page(sent)] if endpoint.paged else [])
