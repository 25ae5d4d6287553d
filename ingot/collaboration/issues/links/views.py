"""Response structs of issue links."""

from collections.abc import Sequence

from ingot.collaboration.issues.links.queries import LinkedIssue, list_links
from ingot.collaboration.issues.links.tables import IssueLink, LinkType
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.views import IssueView, issue_views
from ingot.collaboration.planning.views import ReferencesView
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.db.times import Timestamp

_MOST_BRIEFS = 100


class LinkedIssueView(IssueView, kw_only=True):
    """An issue at the other end of a link."""

    issue_link_id: int
    link_type: LinkType
    link_created_at: Timestamp
    link_updated_at: Timestamp


class LinkedIssueBrief(View):
    """An issue at the other end of a link, as the page of the first one names it."""

    issue_link_id: int
    link_type: LinkType
    project_id: int
    title: str
    state: str
    web_url: str
    references: ReferencesView


class IssueLinkView(View):
    """A link with both of its issues."""

    id: int
    source_issue: IssueView
    target_issue: IssueView
    link_type: LinkType


def linked_views(db: Connection, actor: Actor, linked: Sequence[LinkedIssue], base: str) -> list[LinkedIssueView]:
    """Build the views of a page of linked issues."""
    paths = {entry.issue.project_id: entry.project_path for entry in linked}
    views = issue_views(db, actor, [entry.issue for entry in linked], base, paths=paths)
    return [
        LinkedIssueView(
            **{name: getattr(view, name) for name in view.__struct_fields__},
            issue_link_id=entry.link.id,
            link_type=entry.link_type,
            link_created_at=entry.link.created_at,
            link_updated_at=entry.link.updated_at,
        )
        for entry, view in zip(linked, views, strict=True)
    ]


def linked_briefs(db: Connection, actor: Actor, issue_id: int, base: str) -> list[LinkedIssueBrief]:
    """Return the issues that an issue is linked to and that the caller may see; one statement for all."""
    linked = list_links(db, actor, issue_id, Page(1, _MOST_BRIEFS)).items
    return [_brief(one, base) for one in linked]


def _brief(linked: LinkedIssue, base: str) -> LinkedIssueBrief:
    issue, path, short = linked.issue, linked.project_path, f"#{linked.issue.iid}"
    return LinkedIssueBrief(
        linked.link.id,
        linked.link_type,
        issue.project_id,
        issue.title,
        issue.state,
        f"{base}/{path}/issues/{issue.iid}",
        ReferencesView(short, short, f"{path}{short}"),
    )


def link_view(db: Connection, actor: Actor, link: IssueLink, ends: Sequence[Issue], base: str) -> IssueLinkView:
    """Build the view of a link; ``ends`` are its two issues in any order."""
    views = {view.id: view for view in issue_views(db, actor, ends, base)}
    return IssueLinkView(link.id, views[link.source_id], views[link.target_id], link.link_type)
