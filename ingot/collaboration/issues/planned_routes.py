"""What can be done alike with all that is planned: following it, saying how long it takes, asking who takes part.

Issues declare it below their path, and so do merge requests, which lie above.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.issues.durations import parse_duration
from ingot.collaboration.issues.time_tracking import TimeTracker
from ingot.collaboration.issues.views import TimeStatsView, time_stats_view
from ingot.collaboration.participants.queries import participants_of
from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.subjects import Subject
from ingot.collaboration.subscriptions.service import set_subscription
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.api.params import Params
from ingot.core.api.routes import Call, Routes
from ingot.core.api.views import View
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.errors import Invalid, Unchanged

F = TypeVar("F")
PermissionCheck = Callable[[Actor, Access, Any], bool]


class DurationParams(Params):
    """How long, as people write it."""

    duration: str
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class IssuableEndpoints(Generic[F]):
    """What a room tells of what it plans; ``F`` is what its finder finds."""

    kind: SubjectKind
    finder: Callable[[Call], tuple[Access, F]]
    row: Callable[[F], Any]
    """What is stored of it."""
    subject: Callable[[F], Subject]
    clock: TimeTracker[Any]
    view: type[View]
    shown: Callable[[Call, F], Any]
    """How it is answered to who follows it."""
    follows: Callable[[Call, F], bool]
    may_read: PermissionCheck
    may_take_part: PermissionCheck
    may_edit: PermissionCheck


class PlanningPaths(NamedTuple):
    """Paths of the endpoints that ``issuable_routes`` declares for one kind of subject."""

    subscribe: str
    unsubscribe: str
    time_estimate: str
    reset_time_estimate: str
    add_spent_time: str
    reset_spent_time: str
    time_stats: str
    participants: str


def issuable_routes(routes: Routes, endpoints: IssuableEndpoints[F], paths: PlanningPaths) -> None:
    """Declare subscribing, time tracking and participants of one kind of subject, at the given paths."""
    _subscription_routes(routes, endpoints, paths)
    _time_tracking_routes(routes, endpoints, paths)

    @routes.get(paths.participants, on=endpoints.finder, may=endpoints.may_read, returns=list[UserBrief])
    def list_participants(call: Call, found: F, page: Page) -> Listing[UserBrief]:
        """List who takes part in something: who wrote it, has it to do, wrote notes on it, or is named there."""
        shown = slice_page(participants_of(call.db, endpoints.kind, endpoints.subject(found)), page)
        users = user_briefs_by_ids(call.db, shown.items, call.origin.base)
        return shown.of([users[number] for number in shown.items if number in users])


def _subscription_routes(routes: Routes, endpoints: IssuableEndpoints[F], paths: PlanningPaths) -> None:
    finder, may, view = endpoints.finder, endpoints.may_take_part, endpoints.view

    def follow_found(call: Call, found: F, *, following: bool) -> Any:
        if endpoints.follows(call, found) is following:
            raise Unchanged
        set_subscription(call.db, call.actor.user_id, endpoints.kind.kind, endpoints.row(found).id, following=following)
        return endpoints.shown(call, found)

    @routes.post(paths.subscribe, on=finder, may=may, returns=view)
    def subscribe(call: Call, found: F) -> Any:
        """Follow something that is planned."""
        return follow_found(call, found, following=True)

    @routes.post(paths.unsubscribe, on=finder, may=may, returns=view)
    def unsubscribe(call: Call, found: F) -> Any:
        """Stop following something that is planned."""
        return follow_found(call, found, following=False)


def _time_tracking_routes(routes: Routes, endpoints: IssuableEndpoints[F], paths: PlanningPaths) -> None:
    finder, may, clock, row = endpoints.finder, endpoints.may_edit, endpoints.clock, endpoints.row

    @routes.post(paths.time_estimate, on=finder, may=may, returns=TimeStatsView, status=200)
    def set_time_estimate(call: Call, found: F, params: DurationParams) -> TimeStatsView:
        """Estimate how long something takes."""
        seconds = _duration_seconds(params)
        if seconds < 0:
            raise Invalid(duration=["is invalid"])
        return time_stats_view(clock.set_estimate(call.db, call.actor, row(found), seconds))

    @routes.post(paths.reset_time_estimate, on=finder, may=may, returns=TimeStatsView, status=200)
    def reset_time_estimate(call: Call, found: F) -> TimeStatsView:
        """Take the estimate of something back."""
        return time_stats_view(clock.set_estimate(call.db, call.actor, row(found), 0))

    @routes.post(paths.add_spent_time, on=finder, may=may, returns=TimeStatsView)
    def add_spent_time(call: Call, found: F, params: DurationParams) -> TimeStatsView:
        """Add to the time that something took, or take some of it back."""
        return time_stats_view(clock.add_spent_time(call.db, call.actor, row(found), _duration_seconds(params)))

    @routes.post(paths.reset_spent_time, on=finder, may=may, returns=TimeStatsView, status=200)
    def reset_spent_time(call: Call, found: F) -> TimeStatsView:
        """Forget the time that something took."""
        return time_stats_view(clock.reset_spent_time(call.db, call.actor, row(found)))

    @routes.get(paths.time_stats, on=finder, may=endpoints.may_read, returns=TimeStatsView)
    def get_time_stats(call: Call, found: F) -> TimeStatsView:  # noqa: ARG001 - Every handler gets its call.
        """Get how long something takes, and took so far."""
        return time_stats_view(row(found))


def _duration_seconds(params: DurationParams) -> int:
    seconds = parse_duration(params.duration)
    if not seconds:
        raise Invalid(duration=["is invalid"])
    return seconds
