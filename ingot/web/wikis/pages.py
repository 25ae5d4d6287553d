"""Wiki pages of projects and groups."""

from typing import Any
from urllib.parse import quote

from ingot.core.errors import NotFound
from ingot.projects.projects.views import instance_urls_at
from ingot.repositories.wikis import api as wikis_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.issues.planning_parent import SharedPages
from ingot.web.page_routes import LocalRedirect, PageResponse, TemplateResponse, form_field
from ingot.web.projects.clone_urls import clone_urls, group_wiki_urls
from ingot.web.projects.context import ProjectContext
from ingot.web.texts import render_markdown

shared_pages = SharedPages()
pages = shared_pages.pages
_HOME_SLUG = "home"
_FIELDS = ("title", "content", "message")


@shared_pages.get("/wikis", open=True)
def show_wiki(parent: ProjectOrGroupContext) -> PageResponse:
    """Show the home page of a wiki."""
    return _wiki_page(parent, _HOME_SLUG)


@shared_pages.get("/wikis/:slug", open=True, slashes="slug")
def show_page(parent: ProjectOrGroupContext) -> PageResponse:
    """Show a wiki page, the form of ``…/edit`` or ``new``, or the list of ``pages``."""
    slug = parent.visit.request.path["slug"]
    if (slug == "new" or slug.endswith("/edit")) and not parent.may(wikis_api.create_page):
        raise NotFound("Page")
    if slug == "new":
        return _wiki_form(parent, {"title": "", "content": "", "message": ""}, "")
    if slug.endswith("/edit"):
        return _edit(parent, slug.removesuffix("/edit"))
    return _wiki_page(parent, _HOME_SLUG if slug == "pages" else slug)


@shared_pages.form("post", "/wikis", notice="Page created.")
def create_page(parent: ProjectOrGroupContext) -> PageResponse:
    """Create a wiki page."""
    return _save(parent, "")


@shared_pages.form("put", "/wikis/:slug", notice="Page saved.", slashes="slug")
def edit_page(parent: ProjectOrGroupContext) -> PageResponse:
    """Update a wiki page."""
    return _save(parent, parent.visit.request.path["slug"])


@shared_pages.form("delete", "/wikis/:slug", notice="Page deleted.", slashes="slug")
def delete_page(parent: ProjectOrGroupContext) -> PageResponse:
    """Delete a wiki page."""
    parent.ask(wikis_api.delete_page, slug=parent.visit.request.path["slug"])
    return LocalRedirect(f"{parent.url}/-/wikis")


def _wiki_page(parent: ProjectOrGroupContext, slug: str) -> TemplateResponse:
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
        "clone_urls": _clone_urls(parent),
        "may_write": parent.may(wikis_api.create_page),
        "may_delete": parent.may(wikis_api.delete_page, slug=slug),
    }
    return _page(parent, "wikis/wiki.html", context)


def _clone_urls(parent: ProjectOrGroupContext) -> dict[str, str]:
    if isinstance(parent, ProjectContext):
        project = parent.project
        return parent.visit.database.read(lambda db: clone_urls(db, project, wiki=True))
    urls = instance_urls_at(parent.visit.request.origin.base, parent.visit.settings)
    return parent.visit.database.read(lambda db: group_wiki_urls(db, parent.group.id, parent.group.full_path, urls))


def _page(parent: ProjectOrGroupContext, template: str, context: dict[str, Any], status: int = 200) -> TemplateResponse:
    if isinstance(parent, ProjectContext):
        layout, name, path = "project.html", parent.project.name_with_namespace, parent.project.path_with_namespace
    else:
        layout, name, path = "issues/group.html", parent.group.full_name, parent.group.full_path
    root = "projects" if isinstance(parent, ProjectContext) else "groups"
    shared = {"layout": layout, "owner_name": name, "editor_path": path, "editor_root": root}
    return parent.page(template, "wiki", {**shared, **context}, status)


def _page_html(parent: ProjectOrGroupContext, page: Any) -> Any:
    if page is None:
        return ""
    if page.format != "markdown":
        return None
    directory = page.slug.rpartition("/")[0]
    if isinstance(parent, ProjectContext):
        return render_markdown(parent.visit, page.content, parent.project.id, directory=directory, wiki=True)
    root = f"{parent.url.removeprefix('/')}/-"
    return render_markdown(parent.visit, page.content, root=root, directory=directory, wiki=True)


def _edit(parent: ProjectOrGroupContext, slug: str) -> TemplateResponse:
    page = parent.ask(wikis_api.get_page, slug=slug)
    return _wiki_form(parent, {"title": page.title, "content": page.content or "", "message": ""}, page.slug)


def _save(parent: ProjectOrGroupContext, slug: str) -> PageResponse:
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
    parent: ProjectOrGroupContext, typed: dict[str, str], slug: str, errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    context = {"typed": typed, "slug": slug, "errors": errors or [], "missing": status == 404}
    return _page(parent, "wikis/wiki_form.html", context, status)
