"""Endpoints of links between issues."""

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.api import issue_in_path
from ingot.collaboration.issues.links import queries, service
from ingot.collaboration.issues.links.params import LinkIssue
from ingot.collaboration.issues.links.views import IssueLinkView, LinkedIssueView, link_view, linked_views
from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.queries import find_issue
from ingot.core.access.rules import require
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound

routes = Routes("issues")


@routes.get(
    "/projects/:id/issues/:issue_iid/links",
    on=issue_in_path,
    may=policy.may_read_issue,
    returns=list[LinkedIssueView],
)
def list_links(call: Call, lookup: IssueLookup, page: Page) -> Listing[LinkedIssueView]:
    """List the issues that an issue is linked to."""
    linked = queries.list_links(call.db, call.actor, lookup.issue.id, page)
    return linked.of(linked_views(call.db, call.actor, linked.items, call.origin.base))


@routes.post(
    "/projects/:id/issues/:issue_iid/links", on=issue_in_path, may=policy.may_triage_issue, returns=IssueLinkView
)
def link_issue(call: Call, lookup: IssueLookup, params: LinkIssue) -> IssueLinkView:
    """Link an issue to another one."""
    target_project = params.target_project_id or str(lookup.issue.project_id)
    target = find_issue(call.db, call.actor, target_project, str(params.target_issue_iid))
    require(policy.may_triage(call.actor, target.access, target.project))
    link = service.link_issues(call.db, lookup.issue, target.issue, params.link_type)
    return link_view(call.db, call.actor, link, [lookup.issue, target.issue], call.origin.base)


@routes.get(
    "/projects/:id/issues/:issue_iid/links/:issue_link_id",
    on=issue_in_path,
    may=policy.may_read_issue,
    returns=IssueLinkView,
)
def get_link(call: Call, lookup: IssueLookup) -> IssueLinkView:
    """Get a link between issues, if the caller sees both."""
    link_id = path_number(call.path, "issue_link_id")
    linked = queries.link_or_none(call.db, call.actor, lookup.issue.id, link_id)
    if linked is None:
        raise NotFound("Issue Link")
    return link_view(call.db, call.actor, linked.link, [lookup.issue, linked.issue], call.origin.base)


@routes.delete(
    "/projects/:id/issues/:issue_iid/links/:issue_link_id",
    on=issue_in_path,
    may=policy.may_triage_issue,
    returns=IssueLinkView,
)
def unlink_issue(call: Call, lookup: IssueLookup) -> IssueLinkView | None:
    """Delete a link between issues."""
    link_id = path_number(call.path, "issue_link_id")
    linked = queries.link_or_none(call.db, call.actor, lookup.issue.id, link_id)
    if linked is None:
        return None
    service.unlink_issues(call.db, linked.link)
    return link_view(call.db, call.actor, linked.link, [lookup.issue, linked.issue], call.origin.base)
