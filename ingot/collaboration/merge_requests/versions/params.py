"""Request parameters of versions."""

from ingot.core.api.params import Params


class GetChanges(Params):
    """Accepted because clients send them; without effect, because everything within the limits is returned."""

    access_raw_diffs: bool = False
    unidiff: bool = False
    include_diverged_commits_count: bool = False
    include_rebase_in_progress: bool = False
    render_html: bool = False
