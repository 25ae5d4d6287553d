"""Commands on how long something takes, and took: how that is kept is for the room that it belongs to."""

from collections.abc import Callable
from typing import TypeVar

from ingot.access.actor import Actor
from ingot.commands.desk import Commands, Desk
from ingot.db.connection import Connection
from ingot.issues.durations import parse_duration, shown_duration
from ingot.subjects import Subject

SetTime = Callable[[Connection, Actor, Subject, int | None], None]
"""So many seconds; nothing forgets what was kept."""
D = TypeVar("D", bound=Desk)


def add_timing(commands: Commands[D], set_estimate: SetTime, add_spent: SetTime) -> None:
    """Let a room's commands know these."""

    @commands.on("estimate")
    def estimate(desk: D, text: str) -> str | None:
        """Say how long it takes."""
        seconds = parse_duration(text)
        if not desk.triages or seconds is None or seconds <= 0:
            return None
        desk.effects.append(lambda db, subject: set_estimate(db, desk.actor, subject, seconds))
        return f"Set time estimate to {shown_duration(seconds)}."

    @commands.on("remove_estimate")
    def remove_estimate(desk: D, _: str) -> str | None:
        """Take the estimate back."""
        if not desk.triages or desk.subject is None:
            return None
        desk.effects.append(lambda db, subject: set_estimate(db, desk.actor, subject, None))
        return "Removed time estimate."

    @commands.on("spend", "spent")
    def spend(desk: D, text: str) -> str | None:
        """Add to the time that it took, or take some of it back."""
        seconds = parse_duration(text)
        if not desk.triages or not seconds:
            return None
        desk.effects.append(lambda db, subject: add_spent(db, desk.actor, subject, seconds))
        return f"{'Added' if seconds > 0 else 'Subtracted'} {shown_duration(abs(seconds))} spent time."

    @commands.on("remove_time_spent")
    def remove_time_spent(desk: D, _: str) -> str | None:
        """Forget the time that it took."""
        if not desk.triages or desk.subject is None:
            return None
        desk.effects.append(lambda db, subject: add_spent(db, desk.actor, subject, None))
        return "Removed spent time."
