"""What callers send about links."""

from typing import Literal

from ingot.core.api.params import Params


class LinkIssue(Params):
    """What an issue has to do with."""

    target_issue_iid: int
    target_project_id: str | None = None
    """A number or a full path; without one it is the project of the issue itself."""
    link_type: Literal["relates_to"] = "relates_to"
