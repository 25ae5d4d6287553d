"""Endpoints for award emoji, declared once for each kind of subject."""

from ingot.collaboration.emoji import policy, queries, service
from ingot.collaboration.emoji.params import GiveAward
from ingot.collaboration.emoji.views import AwardView, award_view, award_views
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.rules import require
from ingot.core.api.routes import Call, Finder, Routes
from ingot.core.db.paging import Listing, Page


def declare_award_routes(routes: Routes, path: str, finder: Finder, *, suffix: str = "") -> None:
    """Declare the award emoji endpoints of the subjects that ``finder`` finds, below ``path``.

    ``suffix`` is appended to the handler names, which are the operation ids of the OpenAPI document, so that a package
    that calls this several times gets distinct names.
    """
    collection_path, award_path = f"{path}/award_emoji", f"{path}/award_emoji/:award_id"

    @routes.get(collection_path, on=finder, may=policy.may_read_awards, returns=list[AwardView])
    def list_awards(call: Call, subject_access: SubjectAccess, page: Page) -> Listing[AwardView]:
        """List the award emoji of a subject."""
        listing = queries.list_awards(call.db, subject_access.subject, page)
        return listing.of(award_views(call.db, listing.items, call.origin.base))

    @routes.post(collection_path, on=finder, may=policy.may_give_awards, returns=AwardView)
    def give_award(call: Call, subject_access: SubjectAccess, params: GiveAward) -> AwardView:
        """Add an award emoji to a subject."""
        award = service.give_award(call.db, call.actor, subject_access.subject, params.name)
        return award_view(call.db, award, call.origin.base)

    @routes.get(award_path, on=finder, may=policy.may_read_awards, returns=AwardView)
    def get_award(call: Call, subject_access: SubjectAccess) -> AwardView:
        """Get an award emoji of a subject."""
        award = queries.find_award(call.db, subject_access.subject, call.path["award_id"])
        return award_view(call.db, award, call.origin.base)

    # The specification answers 401 here instead of 403.
    @routes.delete(award_path, on=finder, may=policy.may_give_awards, returns=None, denied=401)
    def take_award_back(call: Call, subject_access: SubjectAccess) -> None:
        """Remove an award emoji."""
        award = queries.award_or_none(call.db, subject_access.subject, call.path["award_id"])
        if award is not None:
            require(policy.may_remove_award(call.actor, award))
            service.remove_award(call.db, award)

    for handler in (list_awards, give_award, get_award, take_award_back):
        handler.__name__ += suffix
