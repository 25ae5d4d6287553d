"""Response struct of rendered Markdown."""

from ingot.core.api.views import View


class MarkdownView(View):
    """A text as HTML."""

    html: str
