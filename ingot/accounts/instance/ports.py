"""Queries about the instance that packages above answer."""

from collections.abc import Callable
from dataclasses import dataclass

from ingot.core.db.connection import Connection


@dataclass(frozen=True, slots=True)
class RunnerRegistration:
    """Port to runners."""

    registration_token: Callable[[Connection], str | None]
    """Returns the token with which runners of the instance register; None if there is none."""


@dataclass(frozen=True, slots=True)
class TermsAcceptance:
    """Port to users."""

    accept: Callable[[Connection, int], None]
    """Records that a user with an id accepts the terms of service."""


@dataclass(frozen=True, slots=True)
class UserAddresses:
    """Port to the addresses of users."""

    admit: Callable[[Connection, int, str, int, int], None]
    """Records that a user uses a network; raises Throttled beyond a number of them in a number of seconds."""
