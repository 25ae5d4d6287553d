"""What a rendering looks like."""

from ingot.core.api.views import View


class MarkdownView(View):
    """A text as HTML."""

    html: str
