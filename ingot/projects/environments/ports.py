"""Query about deployments that a package above answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ingot.core.db.connection import Connection
from ingot.projects.projects.tables import Project


@dataclass(frozen=True, slots=True)
class DeploymentJobs:
    """Port to the jobs that deploy."""

    views: Callable[[Connection, Project, list[int]], dict[int, dict[str, Any]]]
    """Takes the ids of deployments of a project; returns the views of their jobs by id."""
