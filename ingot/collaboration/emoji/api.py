"""Award emoji over the API, on whatever a room lets people give them to."""

from ingot.collaboration.emoji import policy, queries, service
from ingot.collaboration.emoji.params import GiveAward
from ingot.collaboration.emoji.views import AwardView, award_view, award_views
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.rules import require
from ingot.core.api.routes import Call, Finder, Routes
from ingot.core.db.paging import Listing, Page


def declare_award_routes(routes: Routes, path: str, finder: Finder, *, suffix: str = "") -> None:
    """Declare the award emoji of what ``finder`` reaches, below its path.

    A room that does so for several things tells them apart by a ``suffix`` of the names that the document gives them.
    """
    every, one = f"{path}/award_emoji", f"{path}/award_emoji/:award_id"

    @routes.get(every, on=finder, may=policy.may_read_awards, returns=list[AwardView])
    def list_awards(call: Call, reached: SubjectAccess, page: Page) -> Listing[AwardView]:
        """List the award emoji of something."""
        found = queries.list_awards(call.db, reached.subject, page)
        return found.of(award_views(call.db, found.items, call.origin.base))

    @routes.post(every, on=finder, may=policy.may_give_awards, returns=AwardView)
    def give_award(call: Call, reached: SubjectAccess, params: GiveAward) -> AwardView:
        """Give an award emoji to something."""
        award = service.give_award(call.db, call.actor, reached.subject, params.name)
        return award_view(call.db, award, call.origin.base)

    @routes.get(one, on=finder, may=policy.may_read_awards, returns=AwardView)
    def get_award(call: Call, reached: SubjectAccess) -> AwardView:
        """Get an award emoji of something."""
        award = queries.find_award(call.db, reached.subject, call.path["award_id"])
        return award_view(call.db, award, call.origin.base)

    # The contract's word for a refusal here; elsewhere it is 403.
    @routes.delete(one, on=finder, may=policy.may_give_awards, returns=None, denied=401)
    def take_award_back(call: Call, reached: SubjectAccess) -> None:
        """Take an award emoji back."""
        award = queries.award_or_none(call.db, reached.subject, call.path["award_id"])
        if award is not None:
            require(policy.may_remove_award(call.actor, award))
            service.remove_award(call.db, award)

    for handler in (list_awards, give_award, get_award, take_award_back):
        handler.__name__ += suffix
