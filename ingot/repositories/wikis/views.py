"""Response structs of wiki pages."""

from html import escape

from msgspec import UNSET, UnsetType

from ingot.core.api.views import View
from ingot.core.markup.links import LinkContext, ReferenceResolver
from ingot.core.markup.renderer import render
from ingot.offload import require_blocking_allowed
from ingot.projects.uploads.names import file_stem, is_image
from ingot.repositories.wikis.page_names import WikiPage


class WikiPageView(View):
    """A wiki page with optional content."""

    format: str
    slug: str
    title: str
    encoding: str
    content: str | UnsetType = UNSET


class AttachmentLinkView(View):
    """Link to an attachment."""

    url: str
    markdown: str


class AttachmentView(View):
    """Attachment of a wiki."""

    file_name: str
    file_path: str
    branch: str
    link: AttachmentLinkView


def page_view(page: WikiPage, content: str | UnsetType = UNSET) -> WikiPageView:
    """Return the view of a page."""
    return WikiPageView(page.format, page.slug, page.title, "UTF-8", content)


def render_page(page: WikiPage, content: str, base: str, full_path: str, resolve: ReferenceResolver) -> str:
    """Return the content of a page as HTML; formats other than Markdown are shown as plain text."""
    if page.format != "markdown":
        return f"<pre>{escape(content, quote=False)}</pre>"
    require_blocking_allowed()
    return render(content, LinkContext(base, full_path, directory=page.slug.rpartition("/")[0], wiki=True), resolve)


def attachment_view(path: str, branch: str) -> AttachmentView:
    """Return the view of an attachment with its Markdown link."""
    name = path.rpartition("/")[2]
    image = is_image(name)
    alt = file_stem(name) if image else name
    link = AttachmentLinkView(path, f"{'!' if image else ''}[{alt}]({path})")
    return AttachmentView(name, path, branch, link)
