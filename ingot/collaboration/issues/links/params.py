"""Request parameters of issue links."""

from ingot.collaboration.issues.links.tables import LinkType
from ingot.core.api.params import Params


class LinkIssue(Params):
    """The issue to link to."""

    target_issue_iid: int
    target_project_id: str | None = None
    """The id or the full path of a project; by default the issue's own project."""
    link_type: LinkType = "relates_to"
