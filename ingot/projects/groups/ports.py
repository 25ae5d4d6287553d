"""Queries about groups that packages above answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ingot.core.db.connection import Connection


class StorageSizes(NamedTuple):
    """Bytes that projects use."""

    repositories: int
    lfs_objects: int
    job_artifacts: int


@dataclass(frozen=True, slots=True)
class GroupRunners:
    """Port to runners."""

    registration_token: Callable[[Connection, int], str | None]
    """Takes the id of a group; returns the token with which its runners register, if there is one."""


@dataclass(frozen=True, slots=True)
class GroupProjects:
    """Port to projects."""

    storage_sizes: Callable[[Connection, Sequence[int]], Mapping[int, StorageSizes]]
    """Takes ids of groups; returns the storage that the projects directly in each of them use."""
    has_more_visible_project: Callable[[Connection, int, str], bool]
    """Takes the id of a group and a visibility; whether a project in the group or below it is more visible."""
