"""How tries are shown; the commits themselves are shown as everywhere."""

from typing import Literal

from ingot.api.views import View


class TriedView(View):
    """It would have worked."""

    dry_run: Literal["success"] = "success"
