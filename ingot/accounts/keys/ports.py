"""Queries about keys that packages above answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp


class KeyProject(NamedTuple):
    """Permission of a deploy key in a project, by the field names of the API."""

    id: int
    deploy_key_id: int
    project_id: int
    created_at: Timestamp
    can_push: bool


@dataclass(frozen=True, slots=True)
class KeyProjects:
    """Port to deploy keys."""

    list_projects: Callable[[Connection, int], Sequence[KeyProject]]
    """Takes the id of a key; returns its permissions in projects, which only deploy keys have."""
