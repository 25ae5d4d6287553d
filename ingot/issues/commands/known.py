"""The commands that issues know."""

from dataclasses import dataclass
from datetime import date

from ingot.access.actor import Actor
from ingot.commands.desk import Commands, Desk
from ingot.commands.planning import PLANNING
from ingot.db.connection import Connection
from ingot.db.times import day_of
from ingot.errors import Denied, Invalid, NotFound
from ingot.issues import moving, policy, service
from ingot.issues.commands.dates import parse_day
from ingot.issues.commands.timing import add_timing
from ingot.issues.naming import named_issues
from ingot.issues.policy import Found
from ingot.issues.queries import issue_by_id
from ingot.markup.references import references
from ingot.notes.service import DUPLICATE, Source, add_system_note
from ingot.projects.queries import find_project


@dataclass(slots=True)
class IssueDesk(Desk):
    """The desk of an issue."""

    found: Found | None = None


ISSUES: Commands[IssueDesk] = Commands(PLANNING)


@ISSUES.on("due")
def due(desk: IssueDesk, text: str) -> str | None:
    """Say until when it is to be done."""
    day = parse_day(text, date.fromisoformat(day_of(desk.db.now))) if desk.triages else None
    if day is None:
        return None
    desk.wishes["due_date"] = day.isoformat()
    return f"Set the due date to {day.isoformat()}."


@ISSUES.on("remove_due_date")
def remove_due_date(desk: IssueDesk, _: str) -> str | None:
    """Let it take as long as it takes."""
    if not desk.triages or desk.found is None or desk.found.issue.due_date is None:
        return None
    desk.wishes["due_date"] = None
    return "Removed the due date."


@ISSUES.on("confidential")
def hide(desk: IssueDesk, _: str) -> str | None:
    """Let only those know of it who work on it."""
    # Who writes one may do so at once.
    if not desk.edits:
        return None
    desk.wishes["confidential"] = True
    return "Made this issue confidential."


@ISSUES.on("duplicate")
def mark_duplicate(desk: IssueDesk, name: str) -> str | None:
    """Close it, because another issue says the same."""
    found = desk.found
    if not desk.edits or found is None:
        return None
    named = named_issues(desk.db, desk.actor, desk.project.full_path, references(name))
    other = named[0] if named else None
    if other is None or other.issue.id == found.issue.id or not policy.may_take_part(desk.actor, other.here, other):
        return None
    if found.issue.state == "opened":
        desk.wishes["state_event"] = "close"
    desk.effects.append(lambda db, _: _tell_both(db, desk.actor, found, other))
    return f"Marked this issue as a duplicate of {_shown(other, found)}."


def _tell_both(db: Connection, actor: Actor, found: Found, other: Found) -> None:
    """Each end says of the other what those may know who see it; the number of a confidential one is not told."""
    ends = (
        (found, other, f"marked this issue as a duplicate of {_shown(other, found)}"),
        (other, found, f"marked {_shown(found, other)} as a duplicate of this issue"),
    )
    for one, far, text in ends:
        if not issue_by_id(db, far.issue.id).confidential:
            source = Source("issue", far.issue.id, far.project.id)
            add_system_note(db, actor.user_id, service.subject_of(one.issue), text, DUPLICATE, source)


def _shown(issue: Found, place: Found) -> str:
    near = issue.project.id == place.project.id
    return f"{'' if near else issue.project.full_path}#{issue.issue.iid}"


@ISSUES.on("move")
def move(desk: IssueDesk, path: str) -> str | None:
    """Let it go on in another project."""
    found = desk.found
    if found is None:
        return None
    try:
        target = find_project(desk.db, desk.actor, path)[1] if "/" in path else None
        if target is None:
            return None
        moving.find_target(desk.db, desk.actor, found, target.id)
    except (NotFound, Denied, Invalid):
        return None
    desk.effects.append(lambda db, _: _move(db, desk.actor, found, target.id))
    return f"Moved this issue to {target.full_path}."


def _move(db: Connection, actor: Actor, found: Found, target_id: int) -> None:
    """As it is now, with all that other commands did to it; a second command to move it finds it gone."""
    now = found._replace(issue=issue_by_id(db, found.issue.id))
    try:
        target = moving.find_target(db, actor, now, target_id)
        moving.move_issue(db, actor, now, target, (), links_stay=True)
    except Denied:
        return


add_timing(ISSUES, service.CLOCK, issue_by_id)
