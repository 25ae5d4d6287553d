"""Request parameters of the Markdown endpoint."""

from ingot.core.api.params import Params


class RenderMarkdown(Params):
    """A text and the project to which its references are relative."""

    text: str
    gfm: bool = False
    project: str | None = None
