"""Texts of system notes that only issues have; clients parse them, so their form is part of the contract."""

from datetime import date

from ingot.collaboration.issues.timeline.policy import SEVERITIES


def due_date_changed(day: str | None) -> str:
    """Return the text for a new due date."""
    if day is None:
        return "removed due date"
    due = date.fromisoformat(day)
    return f"changed due date to {due:%B} {due.day}, {due.year}"


def confidentiality_changed(confidential: bool) -> str:
    """Return the text for a change of confidentiality."""
    return "made the issue confidential" if confidential else "made the issue visible to everyone"


def lock_changed(locked: bool) -> str:
    """Return the text for a locked or unlocked discussion."""
    return "locked this issue" if locked else "unlocked this issue"


def severity_changed(severity: str) -> str:
    """Return the text for another severity."""
    return f"changed the severity to **{SEVERITIES[severity]}**"


def type_changed(before: str, after: str) -> str:
    """Return the text for another type."""
    return f"changed type from {before} to {after}"
