"""What a rendering looks like."""

from ingot.api.views import View


class RenderingView(View):
    """A text as HTML."""

    html: str
