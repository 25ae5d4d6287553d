"""Queries about users that packages above answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingot.core.db.connection import Connection


@dataclass(frozen=True, slots=True)
class UserNamespaces:
    """Port to the personal namespaces of users."""

    ids_of_users: Callable[[Connection, Sequence[int]], dict[int, int]]
    """Returns the ids of the personal namespaces by user, in one statement."""


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """Address of the server, for the private addresses of users."""

    base_url: str
