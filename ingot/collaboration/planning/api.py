"""Endpoints that issues and merge requests share: subscribing, time tracking and participants."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.participants.queries import participants_of
from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.planning.durations import parse_duration
from ingot.collaboration.planning.params import TrackTime
from ingot.collaboration.planning.time_tracking import TimeTracking
from ingot.collaboration.planning.views import TimeStatsView, time_stats_view
from ingot.collaboration.subjects import Subject
from ingot.collaboration.subscriptions.service import set_subscription as follow
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.api.routes import Call, Routes
from ingot.core.api.views import View
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.errors import Invalid, Unchanged

F = TypeVar("F")
Permission = Callable[[Actor, Access, Any], bool]


@dataclass(frozen=True, slots=True)
class IssuableEndpoints(Generic[F]):
    """Callables and permissions of one kind of issuable for its shared endpoints; ``F`` is the type of its lookup."""

    kind: SubjectKind
    finder: Callable[[Call], tuple[Access, F]]
    record: Callable[[F], Any]
    subject: Callable[[F], Subject]
    time_tracking: TimeTracking[Any]
    view: type[View]
    make_view: Callable[[Call, F], Any]
    """Builds the response of the subscribe and unsubscribe endpoints."""
    is_subscribed: Callable[[Call, F], bool]
    may_read: Permission
    may_take_part: Permission
    may_edit: Permission


class PlanningPaths(NamedTuple):
    """Paths of the endpoints that ``planning_routes`` declares for one kind of issuable."""

    subscribe: str
    unsubscribe: str
    time_estimate: str
    reset_time_estimate: str
    add_spent_time: str
    reset_spent_time: str
    time_stats: str
    participants: str


class SubscriptionHandlers(NamedTuple):
    """Handlers that subscribe to an issuable and unsubscribe from it."""

    subscribe: Callable[..., Any]
    unsubscribe: Callable[..., Any]


class TimeTrackingHandlers(NamedTuple):
    """Handlers of an issuable's time tracking."""

    set_estimate: Callable[..., TimeStatsView]
    reset_estimate: Callable[..., TimeStatsView]
    add_spent: Callable[..., TimeStatsView]
    reset_spent: Callable[..., TimeStatsView]


class PlanningHandlers(NamedTuple):
    """Handlers that issues and merge requests share, by which pages call them."""

    following: SubscriptionHandlers
    time: TimeTrackingHandlers
    list_participants: Callable[..., Listing[UserBrief]]


def planning_routes(routes: Routes, issuable: IssuableEndpoints[F], paths: PlanningPaths) -> PlanningHandlers:
    """Declare subscribing, time tracking and participants of one kind of issuable."""
    following = _subscription_routes(routes, issuable, paths)
    time = _time_tracking_routes(routes, issuable, paths)

    @routes.get(paths.participants, on=issuable.finder, may=issuable.may_read, returns=list[UserBrief])
    def list_participants(call: Call, lookup: F, page: Page) -> Listing[UserBrief]:
        """List the participants: the author, the assignees, and the users who commented or were mentioned."""
        listing = slice_page(participants_of(call.db, issuable.kind, issuable.subject(lookup)), page)
        users = user_briefs_by_ids(call.db, listing.items, call.origin.base)
        return listing.of([users[user_id] for user_id in listing.items if user_id in users])

    return PlanningHandlers(following, time, list_participants)


def _subscription_routes(routes: Routes, issuable: IssuableEndpoints[F], paths: PlanningPaths) -> SubscriptionHandlers:
    finder, may, view = issuable.finder, issuable.may_take_part, issuable.view

    def set_subscription(call: Call, lookup: F, *, subscribed: bool) -> Any:
        if issuable.is_subscribed(call, lookup) is subscribed:
            raise Unchanged
        follow(call.db, call.actor.user_id, issuable.kind.kind, issuable.record(lookup).id, following=subscribed)
        return issuable.make_view(call, lookup)

    @routes.post(paths.subscribe, on=finder, may=may, returns=view)
    def subscribe(call: Call, lookup: F) -> Any:
        """Subscribe the caller to notifications."""
        return set_subscription(call, lookup, subscribed=True)

    @routes.post(paths.unsubscribe, on=finder, may=may, returns=view)
    def unsubscribe(call: Call, lookup: F) -> Any:
        """Unsubscribe the caller from notifications."""
        return set_subscription(call, lookup, subscribed=False)

    return SubscriptionHandlers(subscribe, unsubscribe)


def _time_tracking_routes(routes: Routes, issuable: IssuableEndpoints[F], paths: PlanningPaths) -> TimeTrackingHandlers:
    finder, may = issuable.finder, issuable.may_edit
    tracking, record = issuable.time_tracking, issuable.record

    @routes.post(paths.time_estimate, on=finder, may=may, returns=TimeStatsView, status=200)
    def set_time_estimate(call: Call, lookup: F, params: TrackTime) -> TimeStatsView:
        """Set the time estimate."""
        seconds = _seconds(params)
        if seconds < 0:
            raise Invalid(duration=["is invalid"])
        return time_stats_view(tracking.set_estimate(call.db, call.actor, record(lookup), seconds))

    @routes.post(paths.reset_time_estimate, on=finder, may=may, returns=TimeStatsView, status=200)
    def reset_time_estimate(call: Call, lookup: F) -> TimeStatsView:
        """Remove the time estimate."""
        return time_stats_view(tracking.set_estimate(call.db, call.actor, record(lookup), 0))

    @routes.post(paths.add_spent_time, on=finder, may=may, returns=TimeStatsView)
    def add_spent_time(call: Call, lookup: F, params: TrackTime) -> TimeStatsView:
        """Add to the time spent, or subtract from it."""
        seconds = _seconds(params)
        return time_stats_view(
            tracking.add_spent_time(call.db, call.actor, record(lookup), seconds, params.summary or None)
        )

    @routes.post(paths.reset_spent_time, on=finder, may=may, returns=TimeStatsView, status=200)
    def reset_spent_time(call: Call, lookup: F) -> TimeStatsView:
        """Reset the time spent."""
        return time_stats_view(tracking.reset_spent_time(call.db, call.actor, record(lookup)))

    @routes.get(paths.time_stats, on=finder, may=issuable.may_read, returns=TimeStatsView)
    def get_time_stats(call: Call, lookup: F) -> TimeStatsView:  # noqa: ARG001 - Every handler gets its call.
        """Get the time estimate and the time spent."""
        return time_stats_view(record(lookup))

    return TimeTrackingHandlers(set_time_estimate, reset_time_estimate, add_spent_time, reset_spent_time)


def _seconds(params: TrackTime) -> int:
    seconds = parse_duration(params.duration)
    if not seconds:
        raise Invalid(duration=["is invalid"])
    return seconds
