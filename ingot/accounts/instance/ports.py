"""Queries about the instance that packages above answer."""

from collections.abc import Callable
from dataclasses import dataclass

from ingot.core.db.connection import Connection


@dataclass(frozen=True, slots=True)
class RunnerRegistration:
    """Port to runners."""

    registration_token: Callable[[Connection], str]
    """Returns the token with which runners of the instance register."""
