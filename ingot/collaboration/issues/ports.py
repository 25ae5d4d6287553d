"""Ports through which issues query merge requests and boards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ingot.collaboration.labels.tables import Label
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.projects.projects.tables import Project

ListMergeRequestsOfIssue = Callable[[Connection, Actor, int, str, Page], Listing[Any]]
"""Takes the caller, the issue's id, the base URL and the page; returns views that the caller may see."""


@dataclass(frozen=True, slots=True)
class IssueMergeRequests:
    """Port to merge requests."""

    list_closing: ListMergeRequestsOfIssue
    """Lists the merge requests that close an issue when they are merged."""
    list_related: ListMergeRequestsOfIssue
    """Lists the merge requests that mention an issue."""
    count_closing: Callable[[Connection, Actor, Sequence[int]], dict[int, int]]
    """Counts the merge requests that close issues and that the caller may see, by issue; omits issues without."""
    follow_up_description: Callable[[Connection, Actor, int, int, str | None], str | None]
    """Takes the caller, the project's id, a merge request's iid and perhaps the id of one of its discussions.

    Returns the default description of an issue that takes the unresolved discussions over, or None if the merge request
    is not visible.
    """


@dataclass(frozen=True, slots=True)
class IssueBoards:
    """Port to boards."""

    labels_of_only_board: Callable[[Connection, Project], list[Label]]
    """Returns the labels of the lists of a project's board; none unless the project has exactly one board."""
