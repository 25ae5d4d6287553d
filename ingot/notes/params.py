"""What callers may send about notes."""

from ingot.api.params import Params
from ingot.git.diff_lines import Side


class PostComment(Params):
    """A comment on a commit, and the line that it is about; one that is not there is no error."""

    note: str
    path: str = ""
    line: int | None = None
    line_type: Side = "new"
