"""Endpoints of award emoji, declared for each kind of subject that can have them."""

from collections.abc import Callable
from typing import NamedTuple

from ingot.collaboration.emoji import policy, queries, service
from ingot.collaboration.emoji.params import GiveAward
from ingot.collaboration.emoji.views import AwardView, award_view, award_views
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.rules import require
from ingot.core.api.routes import Call, Finder, Routes
from ingot.core.db.paging import Listing, Page


class AwardHandlers(NamedTuple):
    """Handlers of the award emoji of one kind of subject, by which pages call them."""

    list_awards: Callable[..., Listing[AwardView]]
    give_award: Callable[..., AwardView]
    get_award: Callable[..., AwardView]
    take_award_back: Callable[..., None]


def declare_award_routes(routes: Routes, finder: Finder, *, awards: str, award: str, suffix: str = "") -> AwardHandlers:
    """Declare the award emoji of the subjects that ``finder`` finds, at the paths of the list and of one award.

    A ``suffix`` of the operation names in the OpenAPI document distinguishes several subjects of one package.
    """

    @routes.get(awards, on=finder, may=policy.may_read_awards, returns=list[AwardView])
    def list_awards(call: Call, subject_access: SubjectAccess, page: Page) -> Listing[AwardView]:
        """List the award emoji of a subject."""
        listing = queries.list_awards(call.db, subject_access.subject, page)
        return listing.of(award_views(call.db, listing.items, call.origin.base))

    @routes.post(awards, on=finder, may=policy.may_give_awards, returns=AwardView)
    def give_award(call: Call, subject_access: SubjectAccess, params: GiveAward) -> AwardView:
        """Add an award emoji to a subject."""
        new_award = service.give_award(call.db, call.actor, subject_access.subject, params.name)
        return award_view(call.db, new_award, call.origin.base)

    @routes.get(award, on=finder, may=policy.may_read_awards, returns=AwardView)
    def get_award(call: Call, subject_access: SubjectAccess) -> AwardView:
        """Get an award emoji of a subject."""
        existing_award = queries.find_award(call.db, subject_access.subject, call.path["award_id"])
        return award_view(call.db, existing_award, call.origin.base)

    # The specification answers 401 here instead of 403.
    @routes.delete(award, on=finder, may=policy.may_give_awards, returns=None, denied=401)
    def take_award_back(call: Call, subject_access: SubjectAccess) -> None:
        """Remove an award emoji."""
        existing_award = queries.award_or_none(call.db, subject_access.subject, call.path["award_id"])
        if existing_award is not None:
            require(policy.may_remove_award(call.actor, existing_award))
            service.remove_award(call.db, existing_award)

    handlers = AwardHandlers(list_awards, give_award, get_award, take_award_back)
    for handler in handlers:
        handler.__name__ += suffix
    return handlers
