"""Queries about commits that packages above answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page


@dataclass(frozen=True, slots=True)
class CommitMergeRequests:
    """Port to merge requests."""

    list_introducing: Callable[[Connection, Actor, int, str, str, Page], Listing[Any]]
    """Takes the caller, the project's id, the commit's oid, the base URL and the page.

    Returns the views of the merge requests that brought the commit, as far as the caller may see them.
    """
