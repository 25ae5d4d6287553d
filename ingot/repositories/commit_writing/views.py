"""How tries are shown; the commits themselves are shown as everywhere."""

from typing import Literal

from ingot.core.api.views import View


class DryRunView(View):
    """It would have worked."""

    dry_run: Literal["success"] = "success"
