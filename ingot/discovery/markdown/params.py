"""What callers may send to have a text rendered."""

from ingot.core.api.params import Params


class RenderMarkdown(Params):
    """A text, and where it would stand."""

    text: str
    gfm: bool = False
    project: str | None = None
