"""What callers send about links."""

from typing import Literal

from ingot.api.params import Params


class LinkIssue(Params):
    """What an issue has to do with."""

    target_project_id: str
    """A number or a full path."""
    target_issue_iid: int
    link_type: Literal["relates_to"] = "relates_to"
