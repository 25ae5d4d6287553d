"""Quick actions for time tracking: ``/estimate``, ``/spend`` and their opposites."""

from collections.abc import Callable
from typing import TypeVar

from ingot.collaboration.planning.durations import format_duration, parse_duration
from ingot.collaboration.planning.time_tracking import EXCEEDS_TOTAL, TimeTracked, TimeTracking
from ingot.collaboration.quick_actions.command_context import CommandContext, CommandRegistry
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid

D = TypeVar("D", bound=CommandContext)
T = TypeVar("T", bound=TimeTracked)


def add_time_tracking(
    commands: CommandRegistry[D], tracking: TimeTracking[T], by_id: Callable[[Connection, int], T]
) -> None:
    """Define the quick actions for one kind of issuable."""

    def set_estimate(db: Connection, actor: Actor, subject: Subject, seconds: int) -> None:
        if subject.id is not None:
            tracking.set_estimate(db, actor, by_id(db, subject.id), seconds)

    def add_spent(db: Connection, actor: Actor, subject: Subject, seconds: int) -> None:
        if subject.id is not None:
            tracking.add_spent_time(db, actor, by_id(db, subject.id), seconds)

    def reset_spent(db: Connection, actor: Actor, subject: Subject) -> None:
        if subject.id is not None:
            tracking.reset_spent_time(db, actor, by_id(db, subject.id))

    @commands.on("estimate", routes=["POST {}/time_estimate"])
    def estimate(context: D, text: str) -> str | None:
        """Set the estimate."""
        seconds = parse_duration(text)
        if not context.may_triage or seconds is None or seconds <= 0:
            return None
        context.effects.append(lambda db, subject: set_estimate(db, context.actor, subject, seconds))
        return f"Set time estimate to {format_duration(seconds)}."

    @commands.on("remove_estimate", routes=["POST {}/reset_time_estimate"])
    def remove_estimate(context: D, _: str) -> str | None:
        """Remove the estimate."""
        if not context.may_triage or context.subject is None:
            return None
        context.effects.append(lambda db, subject: set_estimate(db, context.actor, subject, 0))
        return "Removed time estimate."

    @commands.on("spend", "spent", routes=["POST {}/add_spent_time"])
    def spend(context: D, text: str) -> str | None:
        """Add to the time spent, or subtract from it."""
        seconds = parse_duration(text)
        if not context.may_triage or not seconds:
            return None
        sentence = f"{'Added' if seconds > 0 else 'Subtracted'} {format_duration(abs(seconds))} spent time."

        def apply(db: Connection, subject: Subject) -> None:
            try:
                add_spent(db, context.actor, subject, seconds)
            except Invalid:
                reason = EXCEEDS_TOTAL if seconds < 0 else "The total time spent would be too long"
                context.summary[context.summary.index(sentence)] = f"{reason}."

        context.effects.append(apply)
        return sentence

    @commands.on("remove_time_spent", routes=["POST {}/reset_spent_time"])
    def remove_time_spent(context: D, _: str) -> str | None:
        """Reset the time spent."""
        if not context.may_triage or context.subject is None:
            return None
        context.effects.append(lambda db, subject: reset_spent(db, context.actor, subject))
        return "Removed spent time."
