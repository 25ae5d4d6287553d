"""Response structs of merging."""

from ingot.core.api.views import View


class MergeRefusalView(View):
    """Reason why a merge request was not merged, as text and as a code."""

    message: str
    error_code: str


class MergeRefView(View):
    """The commit of a trial merge."""

    commit_id: str


class RebaseView(View):
    """Whether a rebase is running; always false, because it ends before the response."""

    rebase_in_progress: bool
