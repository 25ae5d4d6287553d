"""Request parameters of the manual order."""

from ingot.core.api.params import Params


class ReorderIssue(Params):
    """Ids of the issues before and after the new position."""

    move_after_id: int | None = None
    """The issue that follows."""
    move_before_id: int | None = None
    """The issue that precedes."""
