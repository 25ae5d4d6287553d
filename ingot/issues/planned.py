"""What can be done alike with all that is planned: following it, saying how long it takes, asking who takes part.

Issues declare it below their path, and so do merge requests, which lie above.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.api.params import Params
from ingot.api.routes import Call, Routes
from ingot.api.views import View
from ingot.db.paging import Listing, Page, cut_page
from ingot.errors import Invalid, Unchanged
from ingot.followers.service import follow
from ingot.involvement.kinds import SubjectKind
from ingot.involvement.queries import participants_of
from ingot.issues.clock import Clock
from ingot.issues.durations import parse_duration
from ingot.issues.views import TimeStatsView, time_stats_view
from ingot.subjects import Subject
from ingot.users.accounts.views import UserBrief, briefs_by_ids

F = TypeVar("F")
Rule = Callable[[Actor, Access, Any], bool]


class Duration(Params):
    """How long, as people write it."""

    duration: str
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Planned(Generic[F]):
    """What a room tells of what it plans; ``F`` is what its finder finds."""

    kind: SubjectKind
    finder: Callable[[Call], tuple[Access, F]]
    row: Callable[[F], Any]
    """What is stored of it."""
    subject: Callable[[F], Subject]
    clock: Clock[Any]
    view: type[View]
    shown: Callable[[Call, F], Any]
    """How it is answered to who follows it."""
    follows: Callable[[Call, F], bool]
    may_read: Rule
    may_take_part: Rule
    may_edit: Rule


def planning_routes(routes: Routes, path: str, planned: Planned[F]) -> None:
    """Declare what can be done below a path with what is planned there."""
    _following_routes(routes, path, planned)
    _timing_routes(routes, path, planned)

    @routes.get(f"{path}/participants", on=planned.finder, may=planned.may_read, returns=list[UserBrief])
    def list_participants(call: Call, found: F, page: Page) -> Listing[UserBrief]:
        """List who takes part in something: who wrote it, has it to do, wrote notes on it, or is named there."""
        shown = cut_page(participants_of(call.db, planned.kind, planned.subject(found)), page)
        users = briefs_by_ids(call.db, shown.items, call.origin.base)
        return shown.of([users[number] for number in shown.items if number in users])


def _following_routes(routes: Routes, path: str, planned: Planned[F]) -> None:
    finder, may, view = planned.finder, planned.may_take_part, planned.view

    def follow_found(call: Call, found: F, *, following: bool) -> Any:
        if planned.follows(call, found) is following:
            raise Unchanged
        follow(call.db, call.actor.user_id, planned.kind.kind, planned.row(found).id, following=following)
        return planned.shown(call, found)

    @routes.post(f"{path}/subscribe", on=finder, may=may, returns=view)
    def subscribe(call: Call, found: F) -> Any:
        """Follow something that is planned."""
        return follow_found(call, found, following=True)

    @routes.post(f"{path}/unsubscribe", on=finder, may=may, returns=view)
    def unsubscribe(call: Call, found: F) -> Any:
        """Stop following something that is planned."""
        return follow_found(call, found, following=False)


def _timing_routes(routes: Routes, path: str, planned: Planned[F]) -> None:
    finder, may, clock, row = planned.finder, planned.may_edit, planned.clock, planned.row

    @routes.post(f"{path}/time_estimate", on=finder, may=may, returns=TimeStatsView, status=200)
    def set_time_estimate(call: Call, found: F, params: Duration) -> TimeStatsView:
        """Estimate how long something takes."""
        seconds = _seconds(params)
        if seconds < 0:
            raise Invalid(duration=["is invalid"])
        return time_stats_view(clock.set_estimate(call.db, call.actor, row(found), seconds))

    @routes.post(f"{path}/reset_time_estimate", on=finder, may=may, returns=TimeStatsView, status=200)
    def reset_time_estimate(call: Call, found: F) -> TimeStatsView:
        """Take the estimate of something back."""
        return time_stats_view(clock.set_estimate(call.db, call.actor, row(found), 0))

    @routes.post(f"{path}/add_spent_time", on=finder, may=may, returns=TimeStatsView)
    def add_spent_time(call: Call, found: F, params: Duration) -> TimeStatsView:
        """Add to the time that something took, or take some of it back."""
        return time_stats_view(clock.add_spent_time(call.db, call.actor, row(found), _seconds(params)))

    @routes.post(f"{path}/reset_spent_time", on=finder, may=may, returns=TimeStatsView, status=200)
    def reset_spent_time(call: Call, found: F) -> TimeStatsView:
        """Forget the time that something took."""
        return time_stats_view(clock.reset_spent_time(call.db, call.actor, row(found)))

    @routes.get(f"{path}/time_stats", on=finder, may=planned.may_read, returns=TimeStatsView)
    def get_time_stats(call: Call, found: F) -> TimeStatsView:  # noqa: ARG001 - Every handler gets its call.
        """Get how long something takes, and took so far."""
        return time_stats_view(row(found))


def _seconds(params: Duration) -> int:
    seconds = parse_duration(params.duration)
    if not seconds:
        raise Invalid(duration=["is invalid"])
    return seconds
