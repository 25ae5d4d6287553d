"""State changes of milestones."""

from typing import Any, Literal

from msgspec import UNSET

from ingot.collaboration.iids.service import next_iid
from ingot.collaboration.milestones.events import MilestoneChanged, MilestonesMerging
from ingot.collaboration.milestones.params import CreateMilestone, EditMilestone
from ingot.collaboration.milestones.queries import (
    find_milestone,
    is_title_taken,
    own_milestone_by_title,
    same_title_in_descendants,
    usable_milestone_by_title,
)
from ingot.collaboration.milestones.tables import Milestone, milestones
from ingot.core.access.actor import Actor
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.core.events.bus import emit
from ingot.projects.members.queries import MemberSource
from ingot.projects.projects.queries import member_source
from ingot.projects.projects.tables import Project

MAX_TITLE_LENGTH = 255
MAX_DESCRIPTION_LENGTH = 1_000_000
# Lock name. Titles must be unique across a group hierarchy, which no database constraint can enforce.
TITLES = "titles of milestones"


def create_milestone(db: Connection, actor: Actor, source: MemberSource, params: CreateMilestone) -> Milestone:
    """Create a milestone; raise Invalid if its title is already used in the group hierarchy."""
    columns: dict[str, Any] = {
        "title": params.title.strip(),
        "description": params.description or None,
        "due_date": params.due_date,
        "start_date": params.start_date,
    }
    _validate(**columns)
    db.lock(TITLES)
    if is_title_taken(db, source, columns["title"]):
        raise _taken()
    milestone = _add(db, source, state="active", **columns)
    emit(db, MilestoneChanged(milestone.id, milestone.project_id, actor.user_id, "created"))
    return milestone


def edit_milestone(
    db: Connection, actor: Actor, source: MemberSource, milestone: Milestone, params: EditMilestone
) -> Milestone:
    """Update the given fields of a milestone; closing a closed milestone is not an error."""
    columns = given_fields(params, "state_event")
    if "title" in columns:
        columns["title"] = columns["title"].strip()
    if "description" in columns:
        columns["description"] = columns["description"] or None
    current = {name: getattr(milestone, name) for name in ("title", "description", "due_date", "start_date")}
    _validate(**current | columns)
    if columns.get("title", milestone.title) != milestone.title:
        db.lock(TITLES)
        if is_title_taken(db, source, columns["title"], by_other_than=milestone.id):
            raise _taken()
    if params.state_event is not UNSET:
        columns["state"] = "closed" if params.state_event == "close" else "active"
    # Write only the given columns, because a concurrent request may be changing the others.
    db.update(milestones, milestone.id, **columns, **_folded(columns), updated_at=db.now)
    if columns.get("state", milestone.state) != milestone.state:
        action: Literal["closed", "reopened"] = "closed" if columns["state"] == "closed" else "reopened"
        emit(db, MilestoneChanged(milestone.id, milestone.project_id, actor.user_id, action))
    return find_milestone(db, source, milestone.id)


def delete_milestone(db: Connection, actor: Actor, milestone: Milestone) -> None:
    """Delete a milestone and remove it from issues and merge requests."""
    if db.delete_counted(milestones, milestone.id):
        emit(db, MilestoneChanged(milestone.id, milestone.project_id, actor.user_id, "destroyed"))


def promote_milestone(db: Connection, milestone: Milestone, group: MemberSource) -> Milestone:
    """Merge the milestones with this title in all projects below a group into one of the group."""
    db.lock(TITLES)
    group_milestone = own_milestone_by_title(db, group, milestone.title) or _copy(db, milestone, group)
    merged = same_title_in_descendants(db, group.id, milestone.title)
    emit(db, MilestonesMerging(merged, group_milestone.id))
    for milestone_id in merged:
        db.delete(milestones, milestone_id)
    return group_milestone


def find_or_copy_milestone(db: Connection, project: Project, milestone: Milestone) -> Milestone:
    """Return the usable milestone with the same title, or else copy the milestone to the project."""
    db.lock(TITLES)
    return usable_milestone_by_title(db, project, milestone.title) or _copy(db, milestone, member_source(project))


def _copy(db: Connection, milestone: Milestone, into: MemberSource) -> Milestone:
    names = ("title", "description", "due_date", "start_date", "state")
    return _add(db, into, **{name: getattr(milestone, name) for name in names})


def _add(db: Connection, source: MemberSource, **columns: Any) -> Milestone:
    milestone_id = db.insert(
        milestones,
        project_id=source.id if source.kind == "project" else None,
        group_id=source.id if source.kind == "group" else None,
        iid=next_iid(db, source.kind, source.id, "milestone"),
        created_at=db.now,
        updated_at=db.now,
        **columns,
        **_folded(columns),
    )
    return find_milestone(db, source, milestone_id)


def _folded(columns: dict[str, Any]) -> dict[str, str]:
    searched = ("title", "description")
    return {f"{name}_key": (columns[name] or "").casefold() for name in searched if name in columns}


def _taken() -> Invalid:
    return Invalid(title=["already being used for another group or project milestone."])


def _validate(title: str, description: str | None, due_date: str | None, start_date: str | None) -> None:
    errors: dict[str, list[str]] = {}
    if not title:
        errors["title"] = ["can't be blank"]
    elif len(title) > MAX_TITLE_LENGTH:
        errors["title"] = [too_long_message(MAX_TITLE_LENGTH)]
    if description is not None and len(description) > MAX_DESCRIPTION_LENGTH:
        errors["description"] = [too_long_message(MAX_DESCRIPTION_LENGTH)]
    if due_date and start_date and due_date < start_date:
        errors["start_date"] = ["can't be greater than due date"]
    if errors:
        raise Invalid(**errors)
