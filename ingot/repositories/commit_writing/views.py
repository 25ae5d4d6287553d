"""Response struct of a dry run; created commits use the commit views."""

from typing import Literal

from ingot.core.api.views import View


class DryRunView(View):
    """Result of a successful dry run."""

    dry_run: Literal["success"] = "success"
