"""Response struct of runners."""

from ingot.core.api.views import View


class RunnerView(View):
    """A runner."""

    id: int
    description: str
    active: bool
    is_shared: bool
    name: str | None
