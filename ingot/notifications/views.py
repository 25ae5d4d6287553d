"""How it is shown what users want to be told."""

import msgspec
from msgspec import UNSET, UnsetType

from ingot.api.views import View
from ingot.notifications.params import FLAGS, LEVELS, ON_BY_DEFAULT, OWN_ACTIVITY
from ingot.notifications.tables import Wish

_NAMES = {number: name for name, number in LEVELS.items()}


class EventsView(View):
    """Of which events a user wants to hear."""

    new_note: bool
    new_issue: bool
    reopen_issue: bool
    close_issue: bool
    reassign_issue: bool
    new_merge_request: bool
    reopen_merge_request: bool
    close_merge_request: bool
    reassign_merge_request: bool
    merge_merge_request: bool
    failed_pipeline: bool
    success_pipeline: bool


class WishView(View):
    """What a user wants to be told of one place; single events count, and show, where they are chosen."""

    level: str
    events: EventsView | UnsetType = UNSET


class OwnWishView(WishView, kw_only=True):
    """The same of everywhere."""

    notification_email: str
    notified_of_own_activity: bool | UnsetType = UNSET


def wish_view(wish: Wish | None) -> WishView:
    """What was said of a group or a project, or that nothing was."""
    return WishView(_level(wish, "global"), _events(wish))


def own_wish_view(wish: Wish | None, email: str) -> OwnWishView:
    """What was said of everywhere."""
    said = msgspec.json.decode(wish.events, type=dict[str, bool]) if wish else {}
    return OwnWishView(
        level=_level(wish, "participating"),
        events=_events(wish),
        notification_email=email,
        notified_of_own_activity=said.get(OWN_ACTIVITY, UNSET),
    )


def _level(wish: Wish | None, default: str) -> str:
    return _NAMES[wish.level] if wish else default


def _events(wish: Wish | None) -> EventsView | UnsetType:
    if wish is None or wish.level != LEVELS["custom"]:
        return UNSET
    said = msgspec.json.decode(wish.events, type=dict[str, bool])
    return EventsView(*(said.get(name, name in ON_BY_DEFAULT) for name in FLAGS))
