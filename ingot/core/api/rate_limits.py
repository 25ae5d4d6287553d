"""Interface of the rate limits, through which requests of all kinds are counted."""

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any, Literal, NamedTuple, Protocol

from ingot.core.access.actor import Actor
from ingot.core.api.responses import Header
from ingot.core.http.transfer_slots import TransferCaller

RequestKind = Literal["api", "inside", "page", "lfs", "ssh", "git"]
"""A call of the API over HTTP or by a page, a page, a request of Git LFS, or a git command over SSH or HTTP."""


class LimitedRequest(NamedTuple):
    """A request, as far as limits depend on it."""

    actor: Actor
    caller: TransferCaller
    """The name of the caller, empty if anonymous, and the network."""
    path: str
    """The path as the client sent it."""
    params: Mapping[str, str]
    """The parameters in the path."""


class RateLimits(Protocol):
    """Limits of the number of requests; off unless configured."""

    async def applying(self, kind: RequestKind, method: str, route: str, pool: Executor) -> Any | None:
        """Return the limits that count requests to a route; None if there are none."""

    def take(self, limits: Any, request: LimitedRequest) -> list[Header]:
        """Count a request and return the headers of the remaining quota; raise ``Throttled`` beyond a limit."""

    def take_reserved(self, limits: Any, request: LimitedRequest) -> list[Header] | None:
        """Count a request without waiting and return the headers; return None if ``take`` must count it."""

    def take_again(self, limits: Any, user_id: int) -> list[Header] | None:
        """Count a further request of a user as ``take_reserved``, sooner; return None if that must count it."""

    def take_inside(self, method: str, route: str, request: LimitedRequest) -> None:
        """Count a change by a page or a GraphQL query, or a call by a tool; raise ``Throttled`` beyond a limit."""
