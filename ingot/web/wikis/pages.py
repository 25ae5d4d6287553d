"""Wiki pages of projects."""

from typing import Any
from urllib.parse import quote

from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.repositories.wikis import api as wikis_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field
from ingot.web.projects.clone_urls import clone_urls
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.texts import render_markdown

pages = PageRoutes()
_HOME_SLUG = "home"
_FIELDS = ("title", "content", "message")


@pages.get("/:path/-/wikis", open=True)
def show_wiki(visit: Visit, db: Connection) -> PageResponse:
    """Show the home page of a wiki."""
    return _wiki_page(project_context(visit), db, _HOME_SLUG)


@pages.get("/:path/-/wikis/:slug", open=True, slashes="slug")
def show_page(visit: Visit, db: Connection) -> PageResponse:
    """Show a wiki page, the form of ``…/edit`` or ``new``, or the list of ``pages``."""
    parent, slug = project_context(visit), visit.request.path["slug"]
    if (slug == "new" or slug.endswith("/edit")) and not parent.may(wikis_api.create_page):
        raise NotFound("Page")
    if slug == "new":
        return _wiki_form(parent, {"title": "", "content": "", "message": ""}, "")
    if slug.endswith("/edit"):
        return _edit(parent, slug.removesuffix("/edit"))
    return _wiki_page(parent, db, _HOME_SLUG if slug == "pages" else slug)


@pages.post("/:path/-/wikis", notice="Page created.")
def create_page(visit: Visit) -> PageResponse:
    """Create a wiki page."""
    return _save(project_context(visit), "")


@pages.put("/:path/-/wikis/:slug", notice="Page saved.", slashes="slug")
def edit_page(visit: Visit) -> PageResponse:
    """Update a wiki page."""
    return _save(project_context(visit), visit.request.path["slug"])


@pages.delete("/:path/-/wikis/:slug", notice="Page deleted.", slashes="slug")
def delete_page(visit: Visit) -> PageResponse:
    """Delete a wiki page."""
    parent = project_context(visit)
    parent.ask(wikis_api.delete_page, slug=visit.request.path["slug"])
    return LocalRedirect(f"{parent.url}/-/wikis")


def _wiki_page(parent: ProjectContext, db: Connection, slug: str) -> TemplateResponse:
    all_pages = parent.ask(wikis_api.list_pages, {"per_page": 100}).items
    try:
        page = parent.ask(wikis_api.get_page, slug=slug)
    except NotFound:
        if slug != _HOME_SLUG and not parent.may(wikis_api.create_page):
            raise
        if slug != _HOME_SLUG:
            return _wiki_form(parent, {"title": slug.replace("-", " "), "content": "", "message": ""}, "", status=404)
        page = None
    context = {
        "pages": all_pages,
        "page": page,
        "html": _page_html(parent, page),
        "clone_urls": clone_urls(db, parent.project, wiki=True),
        "may_write": parent.may(wikis_api.create_page),
        "may_delete": parent.may(wikis_api.delete_page, slug=slug),
    }
    return parent.page("wikis/wiki.html", "wiki", context)


def _page_html(parent: ProjectContext, page: Any) -> Any:
    if page is None:
        return ""
    if page.format != "markdown":
        return None
    directory = page.slug.rpartition("/")[0]
    return render_markdown(parent.visit, page.content, parent.project.id, directory=directory, wiki=True)


def _edit(parent: ProjectContext, slug: str) -> TemplateResponse:
    page = parent.ask(wikis_api.get_page, slug=slug)
    return _wiki_form(parent, {"title": page.title, "content": page.content or "", "message": ""}, page.slug)


def _save(parent: ProjectContext, slug: str) -> PageResponse:
    typed = {name: form_field(parent.visit.request.form, "wiki", name) for name in _FIELDS}
    params = {name: value for name, value in typed.items() if value or name != "message"}
    try:
        saved = (
            parent.ask(wikis_api.edit_page, params, slug=slug) if slug else parent.ask(wikis_api.create_page, params)
        )
    except REQUEST_ERRORS as error:
        return _wiki_form(parent, typed, slug, error_messages(error), 422)
    return LocalRedirect(f"{parent.url}/-/wikis/{quote(saved.slug)}")


def _wiki_form(
    parent: ProjectContext, typed: dict[str, str], slug: str, errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    context = {"typed": typed, "slug": slug, "errors": errors or [], "missing": status == 404}
    return parent.page("wikis/wiki_form.html", "wiki", context, status)
