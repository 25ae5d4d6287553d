"""Facts about the instance that pipelines need and that ``server/ports/ci.py`` provides."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ingot.core.db.connection import Connection
from ingot.core.outgoing.guard import SsrfGuard
from ingot.projects.projects.tables import Project


@dataclass(frozen=True, slots=True)
class CiEnvironment:
    """Address, version and limits of the instance, the guard of requests to other servers, and the data directory."""

    base_url: str
    version: str
    guard: SsrfGuard
    data: Path
    max_needs: int


@dataclass(frozen=True, slots=True)
class SiteVariables:
    """Variables with the address at which the static site of a project is or will be."""

    list_variables: Callable[[Connection, Project, str], list[tuple[str, str]]]
    """Takes the path prefix of the site that a job publishes, with the values of its variables."""
