"""Permissions on the timelines of incidents; users who see the incident see its timeline."""

from ingot.collaboration.issues.policy import IssueLookup
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.tables import Project

INCIDENT = "incident"
SEVERITIES = {
    "unknown": "Unknown",
    "low": "Low - S4",
    "medium": "Medium - S3",
    "high": "High - S2",
    "critical": "Critical - S1",
}
"""Names of the severities of incidents."""


def may_change_timelines(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, unless the project is archived."""
    return (access.level >= Level.DEVELOPER or actor.admin) and not project.archived


def may_change_timeline(actor: Actor, access: Access, lookup: IssueLookup) -> bool:
    """Developers of the project of an incident, unless it is archived."""
    return lookup.issue.issue_type == INCIDENT and may_change_timelines(actor, access, lookup.project)
