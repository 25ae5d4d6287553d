"""Quick actions of issues."""

from dataclasses import dataclass
from datetime import date

from ingot.collaboration.issues import move as moving
from ingot.collaboration.issues import policy, service
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.ports import IssueBoards
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.quick_actions.dates import parse_day, parse_moment
from ingot.collaboration.issues.text_references import referenced_issues
from ingot.collaboration.issues.timeline.policy import INCIDENT, may_change_timeline
from ingot.collaboration.issues.timeline.service import MAX_NOTE_LENGTH, add_event, has_full_timeline
from ingot.collaboration.notes.service import DUPLICATE, MentionSource, add_system_note
from ingot.collaboration.planning.quick_actions import add_time_tracking
from ingot.collaboration.quick_actions.command_context import CommandContext, CommandRegistry
from ingot.collaboration.quick_actions.definitions import PLANNING_COMMANDS, labels_named
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Denied, Invalid, NotFound
from ingot.core.markup.references import extract_references
from ingot.projects.projects.queries import find_project


@dataclass(slots=True)
class IssueCommandContext(CommandContext):
    """Context of the quick actions of an issue."""

    lookup: IssueLookup | None = None


_SEVERITIES = {
    name: severity
    for number, severity in enumerate(("unknown", "critical", "high", "medium", "low"))
    for name in (severity, str(number), f"s{number}")
    if name != "s0"
}
"""Severities by the words that name them."""
ISSUE_COMMANDS: CommandRegistry[IssueCommandContext] = CommandRegistry(
    "/projects/:id/issues/:issue_iid", PLANNING_COMMANDS
)


@ISSUE_COMMANDS.on("due", routes=["PUT {}"])
def set_due_date(context: IssueCommandContext, text: str) -> str | None:
    """Set the due date."""
    day = parse_day(text, date.fromisoformat(context.db.today)) if context.may_triage else None
    if day is None:
        return None
    context.pending_edits["due_date"] = day.isoformat()
    return f"Set the due date to {day.isoformat()}."


@ISSUE_COMMANDS.on("remove_due_date", routes=["PUT {}"])
def remove_due_date(context: IssueCommandContext, _: str) -> str | None:
    """Remove the due date."""
    if not context.may_triage or context.lookup is None or context.lookup.issue.due_date is None:
        return None
    context.pending_edits["due_date"] = None
    return "Removed the due date."


@ISSUE_COMMANDS.on("severity", routes=["PUT {}"])
def set_severity(context: IssueCommandContext, word: str) -> str | None:
    """Set the severity of an incident, as ``S1``, ``1`` or ``critical``."""
    severity = _SEVERITIES.get(word.strip().lower())
    is_incident = context.lookup is None or context.lookup.issue.issue_type == INCIDENT
    if severity is None or not context.may_triage or not is_incident:
        return None
    context.pending_edits["severity"] = severity
    return f"Severity updated to {severity.capitalize()}."


@ISSUE_COMMANDS.on("timeline", routes=["PUT {}"])
def add_timeline_event(context: IssueCommandContext, text: str) -> str | None:
    """Add an event to the timeline of an incident: a text, and its time after ``|`` unless it happens now."""
    lookup = context.lookup
    if lookup is None or not may_change_timeline(context.actor, lookup.access, lookup):
        return None
    note, _, moment = (part.strip() for part in text.partition("|"))
    occurred_at = parse_moment(moment, context.db.now)
    if not 0 < len(note) <= MAX_NOTE_LENGTH or occurred_at is None or has_full_timeline(context.db, lookup.issue):
        return None
    context.effects.append(lambda db, _: _add_event(db, context.actor, lookup, note, occurred_at))
    return "Timeline event added successfully."


def _add_event(db: Connection, actor: Actor, lookup: IssueLookup, note: str, occurred_at: Timestamp) -> None:
    add_event(db, actor, lookup.issue, note, occurred_at)


@ISSUE_COMMANDS.on("confidential", routes=["PUT {}"])
def make_confidential(context: IssueCommandContext, _: str) -> str | None:
    """Make the issue confidential."""
    # The author may do this while creating the issue.
    if not context.may_edit:
        return None
    context.pending_edits["confidential"] = True
    return "Made this issue confidential."


@ISSUE_COMMANDS.on("duplicate", routes=["PUT {}"])
def mark_duplicate(context: IssueCommandContext, name: str) -> str | None:
    """Close the issue as a duplicate of another one."""
    lookup = context.lookup
    if not context.may_edit or lookup is None:
        return None
    mentioned = referenced_issues(context.db, context.actor, context.project.full_path, extract_references(name))
    other = mentioned[0] if mentioned else None
    if (
        other is None
        or other.issue.id == lookup.issue.id
        or not policy.may_take_part(context.actor, other.access, other)
    ):
        return None
    if lookup.issue.state == "opened":
        context.pending_edits["state_event"] = "close"
    context.effects.append(lambda db, _: _add_duplicate_notes(db, context.actor, lookup, other))
    return f"Marked this issue as a duplicate of {_visible_reference(other, lookup)}."


def _add_duplicate_notes(db: Connection, actor: Actor, lookup: IssueLookup, other: IssueLookup) -> None:
    """Add a system note to each issue about the other one; a confidential issue is not mentioned."""
    ends = (
        (lookup, other, f"marked this issue as a duplicate of {_visible_reference(other, lookup)}"),
        (other, lookup, f"marked {_visible_reference(lookup, other)} as a duplicate of this issue"),
    )
    for subject_issue, mentioned, text in ends:
        if not issue_by_id(db, mentioned.issue.id).confidential:
            source = MentionSource("issue", mentioned.issue.id, mentioned.project.id)
            add_system_note(db, actor.user_id, service.subject_of(subject_issue.issue), text, DUPLICATE, source)


def _visible_reference(issue: IssueLookup, reader: IssueLookup) -> str:
    same_project = issue.project.id == reader.project.id
    return f"{'' if same_project else issue.project.full_path}#{issue.issue.iid}"


@ISSUE_COMMANDS.on("board_move", routes=["PUT {}"])
def move_on_board(context: IssueCommandContext, name: str) -> str | None:
    """Move the issue to another list; ignored unless the project has exactly one board."""
    named = labels_named(context, name) if context.may_triage and context.lookup is not None else []
    if len(named) != 1:
        return None
    target = named[0]
    of_lists = context.db.ports[IssueBoards].labels_of_only_board(context.db, context.project)
    if target.id not in [label.id for label in of_lists]:
        return None
    context.extend_edit("remove_labels", [label.title for label in of_lists if label.id != target.id])
    context.extend_edit("add_labels", [target.title])
    return f"Moved issue to ~{target.title} column in the board."


@ISSUE_COMMANDS.on("move", routes=["POST {}/move"])
def move(context: IssueCommandContext, path: str) -> str | None:
    """Move the issue to another project."""
    lookup = context.lookup
    if lookup is None:
        return None
    try:
        target = find_project(context.db, context.actor, path)[1] if "/" in path else None
        if target is None:
            return None
        moving.find_move_target(context.db, context.actor, lookup, target.id)
    except (NotFound, Denied, Invalid):
        return None
    context.effects.append(lambda db, _: _move(db, context.actor, lookup, target.id))
    return f"Moved this issue to {target.full_path}."


def _move(db: Connection, actor: Actor, lookup: IssueLookup, target_id: int) -> None:
    """Move the issue after all other quick actions have been applied; a second ``/move`` has no effect."""
    current = lookup._replace(issue=issue_by_id(db, lookup.issue.id))
    try:
        target = moving.find_move_target(db, actor, current, target_id)
        moving.move_issue(db, actor, current, target, (), links_stay=True)
    except Denied:
        return


add_time_tracking(ISSUE_COMMANDS, service.TIME_TRACKING, issue_by_id)
