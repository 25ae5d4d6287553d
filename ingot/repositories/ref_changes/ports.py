"""Queries about changes of refs that packages above answer."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from ingot.core.db.connection import Connection
from ingot.git.core.repository import Repository
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import Project


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
