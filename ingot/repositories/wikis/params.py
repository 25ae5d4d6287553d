"""Request parameters of wikis."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params, Upload
from ingot.repositories.wikis.page_names import Format


class ListPages(Params):
    """Option to include the contents."""

    with_content: bool = False


class GetPage(Params):
    """Version and output format of a page."""

    version: str | None = None
    render_html: bool = False


class CreatePage(Params):
    """A new page."""

    title: str
    content: str
    format: Format = "markdown"
    message: str | None = None


class EditPage(Params):
    """Changes of a page."""

    title: str | UnsetType = UNSET
    content: str | UnsetType = UNSET
    format: Format | UnsetType = UNSET
    message: str | None = None


class AttachFile(Params):
    """File to attach."""

    file: Upload
    branch: str | None = None
