"""Queries about tokens that packages above answer."""

from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentTools:
    """Port to the tools of agents."""

    names: Callable[[], Collection[str]]
    """Returns the names of all tools."""
