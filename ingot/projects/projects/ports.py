"""Queries about projects that packages above answer."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import Project


@dataclass(frozen=True, slots=True)
class ReferenceLinks:
    """Port to the package that knows every kind of object that a text can refer to."""

    find: Callable[[Connection, Actor, str, Project | None, RepositoryStore, Sequence[Reference]], list[Link | None]]
    """Takes the reader, the base URL, the project of the text if it has one, the store and the references.

    Returns one link for each reference, or None where the reader may not see its target.
    """


@dataclass(frozen=True, slots=True)
class BranchDeletions:
    """Port to the package that records changes of refs."""

    is_pending: Callable[[Connection, int, str], bool]
    """Whether a deletion of this branch of the project is under way; call it while the project's row is locked."""


@dataclass(frozen=True, slots=True)
class StorageMoves:
    """Port to the package that moves repositories between storages."""

    schedule: Callable[[Connection, Project, str, Collection[str]], None]
    """Takes the project, the name of the storage and those of all storages; raises Invalid if it cannot be moved."""


class ProjectCiSettings(NamedTuple):
    """Settings of a project for CI, as the view of the project shows them."""

    build_timeout: int
    build_coverage_regex: str | None
    build_git_strategy: str
    ci_default_git_depth: int
    auto_cancel_pending_pipelines: str
    keep_latest_artifact: bool
    group_runners_enabled: bool


@dataclass(frozen=True, slots=True)
class CiSettingsReader:
    """Port to the package that stores the settings for CI."""

    read: Callable[[Connection, int], ProjectCiSettings]


@dataclass(frozen=True, slots=True)
class JobTokenScopes:
    """Port to the package that knows which projects the tokens of CI jobs may access."""

    allows: Callable[[Connection, int, int], bool]
    """Takes the project of the job and another project; returns whether the token gives access to that one."""
