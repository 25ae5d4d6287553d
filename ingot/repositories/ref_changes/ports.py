"""Queries about changes of refs that packages above answer."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from ingot.core.db.connection import Connection
from ingot.git.writing.ref_updates import RefUpdate


@dataclass(frozen=True, slots=True)
class MergeRequestHeads:
    """Port to merge requests, called before anything is written, so that git work stays out of the transaction."""

    by_branch: Callable[[Connection, int, tuple[RefUpdate, ...]], Mapping[str, Set[str]]]
    """Takes the project's id and the updates; returns by branch the commits whose arrival there has an effect."""
