"""What callers send about the order of issues."""

from ingot.core.api.params import Params


class ReorderIssue(Params):
    """Between which others, by the numbers of their rows."""

    move_after_id: int | None = None
    """The one that comes after it."""
    move_before_id: int | None = None
    """The one that comes before it."""
