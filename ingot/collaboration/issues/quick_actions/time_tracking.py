"""Commands on how long something takes, and took: how that is kept is for the room that it belongs to."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from ingot.collaboration.issues.durations import format_duration, parse_duration
from ingot.collaboration.issues.time_tracking import TimeTracked, TimeTracker
from ingot.collaboration.quick_actions.command_context import CommandContext, CommandRegistry
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.errors import Invalid

D = TypeVar("D", bound=CommandContext)
T = TypeVar("T", bound=TimeTracked)


def add_time_tracking_commands(
    commands: CommandRegistry[D], clock: TimeTracker[T], by_id: Callable[[Connection, int], T]
) -> None:
    """Let a room's commands know these."""

    def set_estimate(db: Connection, actor: Actor, subject: Subject, seconds: int) -> None:
        if subject.id is not None:
            clock.set_estimate(db, actor, by_id(db, subject.id), seconds)

    def add_spent(db: Connection, actor: Actor, subject: Subject, seconds: int | None) -> None:
        """So many seconds; nothing forgets what was kept."""
        if subject.id is None:
            return
        row = by_id(db, subject.id)
        if seconds is None:
            clock.reset_spent_time(db, actor, row)
            return
        with suppress(Invalid):  # More than there is cannot be taken back.
            clock.add_spent_time(db, actor, row, seconds)

    @commands.on("estimate")
    def estimate(desk: D, text: str) -> str | None:
        """Say how long it takes."""
        seconds = parse_duration(text)
        if not desk.may_triage or seconds is None or seconds <= 0:
            return None
        desk.effects.append(lambda db, subject: set_estimate(db, desk.actor, subject, seconds))
        return f"Set time estimate to {format_duration(seconds)}."

    @commands.on("remove_estimate")
    def remove_estimate(desk: D, _: str) -> str | None:
        """Take the estimate back."""
        if not desk.may_triage or desk.subject is None:
            return None
        desk.effects.append(lambda db, subject: set_estimate(db, desk.actor, subject, 0))
        return "Removed time estimate."

    @commands.on("spend", "spent")
    def spend(desk: D, text: str) -> str | None:
        """Add to the time that it took, or take some of it back."""
        seconds = parse_duration(text)
        if not desk.may_triage or not seconds:
            return None
        desk.effects.append(lambda db, subject: add_spent(db, desk.actor, subject, seconds))
        return f"{'Added' if seconds > 0 else 'Subtracted'} {format_duration(abs(seconds))} spent time."

    @commands.on("remove_time_spent")
    def remove_time_spent(desk: D, _: str) -> str | None:
        """Forget the time that it took."""
        if not desk.may_triage or desk.subject is None:
            return None
        desk.effects.append(lambda db, subject: add_spent(db, desk.actor, subject, None))
        return "Removed spent time."
