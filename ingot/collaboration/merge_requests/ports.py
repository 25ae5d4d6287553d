"""Facts about the instance that merge requests need outside of requests."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MergeRequestAddresses:
    """Address of the server, for links that are stored."""

    base_url: str
