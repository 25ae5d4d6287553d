"""How pages of wikis are shown."""

from html import escape

from msgspec import UNSET, UnsetType

from ingot.core.api.views import View
from ingot.core.markup.links import LinkContext, ReferenceResolver
from ingot.core.markup.renderer import render
from ingot.offload import require_blocking_allowed
from ingot.projects.uploads.names import file_stem, is_image
from ingot.repositories.wikis.page_names import WikiPage


class WikiPageView(View):
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


def page_view(page: WikiPage, content: str | UnsetType = UNSET) -> WikiPageView:
    """One page."""
    return WikiPageView(page.format, page.slug, page.title, "UTF-8", content)


def render_page(page: WikiPage, content: str, base: str, full_path: str, resolve: ReferenceResolver) -> str:
    """What a page says as HTML; formats that we do not read are shown as they are."""
    if page.format != "markdown":
        return f"<pre>{escape(content, quote=False)}</pre>"
    require_blocking_allowed()
    return render(content, LinkContext(base, full_path, directory=page.slug.rpartition("/")[0], wiki=True), resolve)


def attachment_view(path: str, branch: str) -> AttachmentView:
    """A file, ready to be mentioned."""
    name = path.rpartition("/")[2]
    picture = is_image(name)
    alt = file_stem(name) if picture else name
    link = AttachmentLinkView(path, f"{'!' if picture else ''}[{alt}]({path})")
    return AttachmentView(name, path, branch, link)
