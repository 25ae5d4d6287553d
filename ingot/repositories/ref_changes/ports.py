"""Queries about changes of refs that packages above answer."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.git.core.repository import Repository
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import Project
from ingot.repositories.ref_changes.tables import RefIntent


@dataclass(frozen=True, slots=True)
class MergeRequestHeads:
    """Port to merge requests, called before anything is written, so that git work stays out of the transaction."""

    by_branch: Callable[[Connection, int, tuple[RefUpdate, ...]], Mapping[str, Set[str]]]
    """Takes the project's id and the updates; returns by branch the commits whose arrival there has an effect."""


@dataclass(frozen=True, slots=True)
class PipelineConfigurations:
    """Port to pipelines, called before anything is written."""

    configured_refs: Callable[[Repository, Project, tuple[RefUpdate, ...]], tuple[str, ...]]
    """Returns the full names of the first updated refs whose commits have a configuration."""


class PushOptionResult(msgspec.Struct, frozen=True):
    """Effects of the options of a push, for the messages to its user."""

    warnings: list[str] = msgspec.field(default_factory=list)
    """Reasons why options had no effect."""
    merge_requests: dict[str, str] = msgspec.field(default_factory=dict)
    """Paths of the merge requests that were created or changed, by branch."""


@dataclass(frozen=True, slots=True)
class PushOptionHandler:
    """Port to merge requests, called after a push was recorded."""

    apply: Callable[[Database, RefIntent, Sequence[RefUpdate]], PushOptionResult]
    """Applies the options of a push to the branches that it updated."""
