"""Snippets: of one's own and of projects."""

from typing import Any

from markupsafe import Markup

from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.inline import expect_a_wait
from ingot.markup.highlighting import highlighted_lines, language_of
from ingot.snippets.params import ListSnippets
from ingot.snippets.queries import list_public_snippets
from ingot.snippets.views import SnippetView, snippet_views
from ingot.web.directions import turns, with_marks
from ingot.web.discussions.ground import SNIPPET, ground_in
from ingot.web.discussions.reading import thread_of
from ingot.web.pages import File, Page, Pages, Redirect, Reply, Visit, form_part, text_of
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences
from ingot.web.shelves import Shelf
from ingot.web.texts import html_of

pages = Pages()
_FIELDS = ("title", "description", "visibility", "file_name", "content")
_LONGEST_INLINE = 8_000
_AT_ONCE = 20
_EMPTY = dict.fromkeys(_FIELDS, "")


class _Snippets(Shelf, frozen=True):
    """Where snippets are: a project's, or nobody's but their author's."""

    place: Place | None

    def page(self, name: str, context: dict[str, Any], status: int = 200) -> Page:
        """A page in the project's frame, where there is one."""
        context = {**context, "url": self.url}
        if self.place is None:
            return Page(f"talk/{name}.html", {**context, "frame": "layout.html"}, status)
        return self.place.page(f"talk/{name}.html", "snippets", {**context, "frame": "project.html"}, status)


def _shelf(visit: Visit) -> _Snippets:
    if "path" not in visit.path:
        return _Snippets(visit, "/-/snippets", "/snippets", {}, "id", "id", None)
    place = place_of(visit)
    path = {"id": place.project.id}
    return _Snippets(visit, f"{place.url}/-/snippets", "/projects/:id/snippets", path, "snippet_id", "id", place)


@pages.get("/snippets")
def list_own(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """One's own snippets."""
    return _list(visit)


@pages.get("/-/snippets")
def list_own_by_dash(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The same by its other address."""
    return _list(visit)


@pages.get("/explore/snippets", open=True)
def list_public(visit: Visit, db: Connection) -> Reply:
    """What people have put up for everybody; the API lists it only to those who are signed in, but shows each."""
    found = list_public_snippets(db, ListSnippets(), ListPage(visit.page, _AT_ONCE))
    listing = found.of(snippet_views(db, found.items, visit.origin.base))
    return Page("explore/snippets.html", {"found": listing})


@pages.get("/:path/-/snippets", open=True)
def list_of_project(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """A project's snippets."""
    return _list(visit)


def _list(visit: Visit) -> Reply:
    shelf = _shelf(visit)
    found = shelf.get("", {"page": visit.query.get("page", "1")})
    return shelf.page("snippets", {"found": found, "may_create": shelf.may("POST")})


def _show(visit: Visit) -> Reply:
    shelf = _shelf(visit)
    route, path = shelf.named
    snippet: SnippetView = shelf.get(route, **path)
    # Only those of projects are talked about.
    thread = thread_of(ground_in(shelf.place, SNIPPET, snippet.id), snippet.description) if shelf.place else None
    context = {
        "snippet": snippet,
        "thread": thread,
        "description": thread.besides[0] if thread else html_of(visit, snippet.description, snippet.project_id),
        "contents": [
            (name, _coloured(name, content), turns(content)) for name, content in _contents(shelf, snippet).items()
        ],
        "may_edit": visit.user is not None and shelf.may("PUT", route, **path),
    }
    return shelf.page("snippet", context)


def _contents(shelf: _Snippets, snippet: SnippetView) -> dict[str, str]:
    """What its files hold, by their names."""
    route, path = shelf.named
    found = {}
    for file in snippet.files:
        raw = shelf.get(f"{route}/files/:ref/:file_path/raw", ref="main", file_path=file.path, **path)
        found[file.path] = raw.body.decode(errors="replace")
    return found


def _coloured(name: str, content: str) -> Markup:
    if len(content) > _LONGEST_INLINE:
        expect_a_wait()
    lines = highlighted_lines(content.removesuffix("\n"), language_of(name))
    return Markup(with_marks("\n".join(lines)))  # noqa: S704 - The highlighter has escaped them.


def _raw(visit: Visit) -> Reply:
    shelf = _shelf(visit)
    route, path = shelf.named
    content = shelf.get(f"{route}/raw", **path)
    return File(content.body, "text/plain; charset=utf-8")


def _form(shelf: _Snippets, typed: dict[str, str], action: str, errors: list[str], status: int, **more: Any) -> Page:
    context = {"typed": typed, "action": action, "errors": errors, "several": [], **more}
    return shelf.page("snippet_form", context, status)


def _new(visit: Visit) -> Reply:
    shelf = _shelf(visit)
    return _form(shelf, {**_EMPTY, "visibility": "private"}, shelf.url, [], 200, edits=False)


def _create(visit: Visit) -> Reply:
    shelf = _shelf(visit)
    typed = {name: form_part(visit.form, "snippet", name) for name in _FIELDS}
    try:
        made: SnippetView = shelf.call("POST", "", typed)
    except Refusal as refusal:
        return _form(shelf, typed, shelf.url, sentences(refusal), 422, edits=False)
    return Redirect(f"{shelf.url}/{made.id}")


def _edit(visit: Visit) -> Reply:
    shelf = _shelf(visit)
    route, path = shelf.named
    snippet: SnippetView = shelf.get(route, **path)
    typed = {name: getattr(snippet, name, None) or "" for name in _FIELDS}
    contents = _contents(shelf, snippet)
    typed["content"] = next(iter(contents.values()), "")
    several = list(contents.items()) if len(contents) > 1 else []
    return _form(shelf, typed, f"{shelf.url}/{snippet.id}", [], 200, edits=True, several=several)


def _change(visit: Visit) -> Reply:
    shelf = _shelf(visit)
    route, path = shelf.named
    typed = {name: form_part(visit.form, "snippet", name) for name in _FIELDS}
    there, several = f"{shelf.url}/{visit.path['id']}", _several(visit)
    sent: dict[str, Any] = typed
    if several:
        changes = [{"action": "update", "file_path": name, "content": content} for name, content in several]
        sent = {name: typed[name] for name in ("title", "description", "visibility")} | {"files": changes}
    try:
        shelf.call("PUT", route, sent, **path)
    except Refusal as refusal:
        return _form(shelf, typed, there, sentences(refusal), 422, edits=True, several=several)
    return Redirect(there)


def _several(visit: Visit) -> list[tuple[str, str]]:
    """The files of a snippet that has more than one, as the form shows them: each with its name and its content."""
    fields = visit.form.get("snippet")
    sent = fields.get("files") if isinstance(fields, dict) else None
    files = [file for file in sent if isinstance(file, dict)] if isinstance(sent, list) else []
    return [(text_of(file, "path"), text_of(file, "content")) for file in files]


def _delete(visit: Visit) -> Reply:
    shelf = _shelf(visit)
    route, path = shelf.named
    shelf.call("DELETE", route, **path)
    return Redirect(shelf.url)


def _declare(prefix: str) -> None:
    """The same pages for each address that snippets have."""
    reads = {"/new": _new, "/:id": _show, "/:id/raw": _raw, "/:id/edit": _edit}
    for path, handler in reads.items():
        pages.get(prefix + path, open=path in ("/:id", "/:id/raw"))(_reading(handler))
    pages.post(prefix)(_create)
    pages.put(f"{prefix}/:id")(_change)
    pages.delete(f"{prefix}/:id")(_delete)


def _reading(handler: Any) -> Any:
    return lambda visit, db: handler(visit)  # noqa: ARG005 - Every page to read gets a connection.


for _prefix in ("/snippets", "/-/snippets", "/:path/-/snippets"):
    _declare(_prefix)
