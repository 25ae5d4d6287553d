"""Response structs of issue links."""

from collections.abc import Sequence

from ingot.collaboration.issues.links.queries import LinkedIssue
from ingot.collaboration.issues.links.tables import IssueLink
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.views import IssueView, issue_views
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp


class LinkedIssueView(IssueView, kw_only=True):
    """An issue at the other end of a link."""

    issue_link_id: int
    link_type: str
    link_created_at: Timestamp
    link_updated_at: Timestamp


class IssueLinkView(View):
    """A link with both of its issues."""

    id: int
    source_issue: IssueView
    target_issue: IssueView
    link_type: str


def linked_views(db: Connection, actor: Actor, linked: Sequence[LinkedIssue], base: str) -> list[LinkedIssueView]:
    """Build the views of a page of linked issues."""
    views = issue_views(db, actor, [issue for _, issue in linked], base)
    return [
        LinkedIssueView(
            **{name: getattr(view, name) for name in view.__struct_fields__},
            issue_link_id=link.id,
            link_type=link.link_type,
            link_created_at=link.created_at,
            link_updated_at=link.updated_at,
        )
        for (link, _), view in zip(linked, views, strict=True)
    ]


def link_view(db: Connection, actor: Actor, link: IssueLink, ends: Sequence[Issue], base: str) -> IssueLinkView:
    """Build the view of a link; ``ends`` are its two issues in any order."""
    views = {view.id: view for view in issue_views(db, actor, ends, base)}
    return IssueLinkView(link.id, views[link.source_id], views[link.target_id], link.link_type)
