"""What callers send about what merge requests bring."""

from ingot.core.api.params import Params


class GetChanges(Params):
    """Known to clients; without effect, as everything is shown that the limits allow."""

    access_raw_diffs: bool = False
    unidiff: bool = False
    include_diverged_commits_count: bool = False
    include_rebase_in_progress: bool = False
    render_html: bool = False
