"""Pages of personal and project snippets."""

from typing import Any

from ingot.accounts.instance.settings import current_settings
from ingot.collaboration.snippets import api as snippets_api
from ingot.collaboration.snippets.views import DEFAULT_REF, SnippetView, public_snippet_views
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page as ListPage
from ingot.web.collections import ResourceCollection
from ingot.web.discussions.discussable import SNIPPET, discussable_in
from ingot.web.discussions.timeline import discussion_thread
from ingot.web.files.uploads import file_response_headers
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import (
    BytesResponse,
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    form_field,
    text_field,
)
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.snippets.files import render_snippet_file
from ingot.web.texts import render_markdown

pages = PageRoutes()
_FIELDS = ("title", "description", "visibility", "file_name", "content")
_PER_PAGE = 20
_EMPTY = dict.fromkeys(_FIELDS, "")


class _SnippetCollection(ResourceCollection, frozen=True):
    """Snippets of a project, or personal snippets."""

    parent: ProjectContext | None

    def page(self, name: str, context: dict[str, Any], status: int = 200) -> TemplateResponse:
        """Render a page in the project layout, or in the normal layout for personal snippets."""
        context = {**context, "url": self.url}
        if self.parent is None:
            return TemplateResponse(f"snippets/{name}.html", {**context, "layout": "layout.html"}, status)
        return self.parent.page(f"snippets/{name}.html", "snippets", {**context, "layout": "project.html"}, status)


def _snippet_collection(visit: Visit) -> _SnippetCollection:
    if "path" not in visit.request.path:
        return _SnippetCollection(visit, "/-/snippets", "snippets", {}, "id", "id", None)
    parent = project_context(visit)
    path = {"id": parent.project.id}
    return _SnippetCollection(visit, f"{parent.url}/-/snippets", "projects", path, "snippet_id", "id", parent)


@pages.get("/snippets")
def list_own_snippets(visit: Visit) -> PageResponse:
    """List the user's own snippets."""
    return _list(visit)


@pages.get("/-/snippets")
def list_own_snippets_by_dash(visit: Visit) -> PageResponse:
    """List the user's own snippets, at the second URL."""
    return _list(visit)


@pages.get("/explore/snippets", open=True)
def show_public_snippets(visit: Visit, db: Connection) -> PageResponse:
    """List public snippets."""
    listing = public_snippet_views(db, ListPage(visit.request.page, _PER_PAGE), visit.request.origin.base)
    return TemplateResponse("explore/snippets.html", {"snippets": listing})


@pages.get("/:path/-/snippets", open=True)
def list_project_snippets(visit: Visit) -> PageResponse:
    """List the snippets of a project."""
    return _list(visit)


def _list(visit: Visit) -> PageResponse:
    collection = _snippet_collection(visit)
    own = collection.parent is None
    endpoint = snippets_api.list_snippets if own else snippets_api.list_project_snippets
    snippets = collection.ask(endpoint, {"page": visit.request.query.get("page", "1")})
    may_create = collection.may(snippets_api.create_snippet if own else snippets_api.create_project_snippet)
    return collection.page("snippets", {"snippets": snippets, "may_create": may_create})


def _show(visit: Visit) -> PageResponse:
    collection = _snippet_collection(visit)
    snippet = collection.ask(snippets_api.get_snippet, **collection.item_path)
    files = [
        render_snippet_file(visit, file.path, _body(collection, file.path), number, snippet.project_id)
        for number, file in enumerate(snippet.files, 1)
    ]
    rest = next(
        (file.lines.rest for file in files if file.lines and str(file.number) == visit.request.query.get("rest")), None
    )
    if visit.headers.fragment and rest is not None:
        return TemplateResponse("code/_lines.html", {"rows": rest})
    # Personal snippets have no comments.
    thread = (
        discussion_thread(discussable_in(collection.parent, SNIPPET, snippet.id), snippet.description)
        if collection.parent
        else None
    )
    context = {
        "snippet": snippet,
        "thread": thread,
        "description": thread.other_texts[0]
        if thread
        else render_markdown(visit, snippet.description, snippet.project_id),
        "files": files,
        "may_edit": visit.viewer.user is not None and collection.may(snippets_api.edit_snippet, **collection.item_path),
    }
    return collection.page("snippet", context)


def _file_contents(collection: _SnippetCollection, snippet: SnippetView) -> dict[str, str]:
    """Return the contents of a snippet's files by name."""
    return {file.path: _body(collection, file.path).decode(errors="replace") for file in snippet.files}


def _body(collection: _SnippetCollection, file: str) -> bytes:
    ref = collection.visit.request.path.get("ref", DEFAULT_REF)
    return collection.ask(snippets_api.get_raw_snippet_file, ref=ref, file_path=file, **collection.item_path).body


def _raw(visit: Visit) -> PageResponse:
    """Return the raw content of the named file, by default the first; ``inline=false`` downloads it."""
    collection = _snippet_collection(visit)
    snippet = collection.ask(snippets_api.get_snippet, **collection.item_path)
    file = visit.request.path.get("file", snippet.file_name)
    download = visit.request.query.get("inline") == "false"
    headers = file_response_headers(file.rpartition("/")[2], shown=not download)
    return BytesResponse(
        _body(collection, file), "application/octet-stream" if download else "text/plain; charset=utf-8", headers
    )


def _snippet_form(
    collection: _SnippetCollection, typed: dict[str, str], action: str, errors: list[str], status: int, **more: Any
) -> TemplateResponse:
    context = {"typed": typed, "action": action, "errors": errors, "several": [], **more}
    return collection.page("snippet_form", context, status)


def _new(visit: Visit) -> PageResponse:
    collection = _snippet_collection(visit)
    proposed = visit.database.read(lambda db: current_settings(db).default_snippet_visibility)
    return _snippet_form(collection, {**_EMPTY, "visibility": proposed}, collection.url, [], 200, edits=False)


def _create(visit: Visit) -> PageResponse:
    collection = _snippet_collection(visit)
    typed = {name: form_field(visit.request.form, "snippet", name) for name in _FIELDS}
    try:
        created = collection.ask(
            snippets_api.create_project_snippet if collection.parent else snippets_api.create_snippet, typed
        )
    except REQUEST_ERRORS as error:
        return _snippet_form(collection, typed, collection.url, error_messages(error), 422, edits=False)
    return LocalRedirect(f"{collection.url}/{created.id}")


def _edit(visit: Visit) -> PageResponse:
    collection = _snippet_collection(visit)
    snippet = collection.ask(snippets_api.get_snippet, **collection.item_path)
    typed = {name: getattr(snippet, name, None) or "" for name in _FIELDS}
    contents = _file_contents(collection, snippet)
    typed["content"] = next(iter(contents.values()), "")
    several = list(contents.items()) if len(contents) > 1 else []
    return _snippet_form(collection, typed, f"{collection.url}/{snippet.id}", [], 200, edits=True, several=several)


def _change(visit: Visit) -> PageResponse:
    collection = _snippet_collection(visit)
    typed = {name: form_field(visit.request.form, "snippet", name) for name in _FIELDS}
    url, several = f"{collection.url}/{visit.request.path['id']}", _file_fields(visit)
    params: dict[str, Any] = typed
    if several:
        changes = [{"action": "update", "file_path": name, "content": content} for name, content in several]
        params = {name: typed[name] for name in ("title", "description", "visibility")} | {"files": changes}
    try:
        collection.ask(snippets_api.edit_snippet, params, **collection.item_path)
    except REQUEST_ERRORS as error:
        return _snippet_form(collection, typed, url, error_messages(error), 422, edits=True, several=several)
    return LocalRedirect(url)


def _file_fields(visit: Visit) -> list[tuple[str, str]]:
    """Return name and content of each file in the form of a snippet with several files."""
    fields = visit.request.form.get("snippet")
    values = fields.get("files") if isinstance(fields, dict) else None
    files = [file for file in values if isinstance(file, dict)] if isinstance(values, list) else []
    return [(text_field(file, "path"), text_field(file, "content")) for file in files]


def _delete(visit: Visit) -> PageResponse:
    collection = _snippet_collection(visit)
    collection.ask(
        snippets_api.delete_project_snippet if collection.parent else snippets_api.delete_snippet,
        **collection.item_path,
    )
    return LocalRedirect(collection.url)


def _declare_pages(prefix: str) -> None:
    """Declare the snippet pages below a URL prefix."""
    reads = {"/new": _new, "/:id": _show, "/:id/raw": _raw, "/:id/edit": _edit}
    for path, handler in reads.items():
        pages.get(prefix + path, open=path in ("/:id", "/:id/raw"))(handler)
    pages.get(f"{prefix}/:id/raw/:ref/:file", open=True, slashes="file")(_raw)
    pages.post(prefix, notice="Snippet created.")(_create)
    pages.put(f"{prefix}/:id", notice="Snippet saved.")(_change)
    pages.delete(f"{prefix}/:id", notice="Snippet deleted.")(_delete)


for _prefix in ("/snippets", "/-/snippets", "/:path/-/snippets"):
    _declare_pages(_prefix)
