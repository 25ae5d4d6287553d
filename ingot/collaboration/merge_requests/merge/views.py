"""How merging is answered where it is not by the merge request."""

from ingot.core.api.views import View


class MergeRefusalView(View):
    """Why something is not merged, in words and in a word for programs."""

    message: str
    error_code: str


class MergeRefView(View):
    """The commit of a merge that nobody has made."""

    commit_id: str


class RebaseView(View):
    """Whether a rebase is under way; it never is any more when the call is answered."""

    rebase_in_progress: bool
