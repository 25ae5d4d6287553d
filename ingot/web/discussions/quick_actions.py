"""Quick actions that the completion in editors offers, with their arguments."""

from collections.abc import Mapping
from typing import NamedTuple


class QuickAction(NamedTuple):
    """Quick action as users see it."""

    description: str
    argument: str = ""
    """Begin of the argument, such as ``@``, which opens the completion of users."""


_SHARED: dict[str, QuickAction] = {
    "assign": QuickAction("Assign a user", "@"),
    "unassign": QuickAction("Remove the assignee"),
    "label": QuickAction("Add labels", "~"),
    "unlabel": QuickAction("Remove labels", "~"),
    "relabel": QuickAction("Replace all labels", "~"),
    "milestone": QuickAction("Set the milestone", "%"),
    "remove_milestone": QuickAction("Remove the milestone"),
    "close": QuickAction("Close"),
    "reopen": QuickAction("Reopen"),
    "title": QuickAction("Change the title"),
    "subscribe": QuickAction("Subscribe to notifications"),
    "unsubscribe": QuickAction("Unsubscribe from notifications"),
    "todo": QuickAction("Add a to-do item"),
    "done": QuickAction("Mark the to-do item as done"),
    "award": QuickAction("Add or remove an emoji reaction", ":"),
    "estimate": QuickAction("Set the time estimate, such as 1h 30m"),
    "remove_estimate": QuickAction("Remove the time estimate"),
    "spend": QuickAction("Add spent time, such as 30m"),
    "remove_time_spent": QuickAction("Remove the spent time"),
}
_ISSUE: dict[str, QuickAction] = {
    "due": QuickAction("Set the due date, such as tomorrow"),
    "remove_due_date": QuickAction("Remove the due date"),
    "confidential": QuickAction("Make confidential"),
    "duplicate": QuickAction("Close as a duplicate of another issue", "#"),
    "move": QuickAction("Move to another project"),
    "board_move": QuickAction("Move to a list of the board", "~"),
    "severity": QuickAction("Set the severity of an incident, such as S1"),
    "timeline": QuickAction("Add an event to the timeline of an incident"),
}
_MERGE_REQUEST: dict[str, QuickAction] = {
    "target_branch": QuickAction("Change the target branch"),
    "draft": QuickAction("Mark as draft, or as ready"),
    "ready": QuickAction("Mark as ready"),
    "merge": QuickAction("Merge when the pipeline succeeds"),
    "approve": QuickAction("Approve"),
    "unapprove": QuickAction("Revoke the approval"),
    "request_changes": QuickAction("Request changes, which blocks the merge"),
}
QUICK_ACTIONS: Mapping[str, Mapping[str, QuickAction]] = {
    "issue": dict(sorted((_SHARED | _ISSUE).items())),
    "merge request": dict(sorted((_SHARED | _MERGE_REQUEST).items())),
}
"""Quick actions by kind of subject and name."""
