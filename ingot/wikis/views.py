"""How pages of wikis are shown."""

from html import escape

from msgspec import UNSET, UnsetType

from ingot.api.views import View
from ingot.inline import expect_a_wait
from ingot.markup.links import Place, Resolve
from ingot.markup.rendering import render
from ingot.projects.uploads.names import is_picture, stem_of
from ingot.wikis.pages import Page


class PageView(View):
    """A page; what it says only where that was asked for."""

    format: str
    slug: str
    title: str
    encoding: str
    content: str | UnsetType = UNSET


class AttachmentLinkView(View):
    """How a file is mentioned."""

    url: str
    markdown: str


class AttachmentView(View):
    """A file of a wiki that is no page."""

    file_name: str
    file_path: str
    branch: str
    link: AttachmentLinkView


def page_view(page: Page, content: str | UnsetType = UNSET) -> PageView:
    """One page."""
    return PageView(page.format, page.slug, page.title, "UTF-8", content)


def rendered(page: Page, content: str, base: str, full_path: str, resolve: Resolve) -> str:
    """What a page says as HTML; formats that we do not read are shown as they are."""
    if page.format != "markdown":
        return f"<pre>{escape(content, quote=False)}</pre>"
    expect_a_wait()
    return render(content, Place(base, full_path, directory=page.slug.rpartition("/")[0], wiki=True), resolve)


def attachment_view(path: str, branch: str) -> AttachmentView:
    """A file, ready to be mentioned."""
    name = path.rpartition("/")[2]
    picture = is_picture(name)
    alt = stem_of(name) if picture else name
    link = AttachmentLinkView(path, f"{'!' if picture else ''}[{alt}]({path})")
    return AttachmentView(name, path, branch, link)
