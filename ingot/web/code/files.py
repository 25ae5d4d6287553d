"""File pages: content and blame."""

import posixpath
from typing import Any
from urllib.parse import quote

from ingot.core.api.params import number_or_none
from ingot.core.errors import Invalid
from ingot.core.markup.lexers import language_of
from ingot.repositories import browser
from ingot.web.bidi import has_bidi_characters, warns_of_characters
from ingot.web.code.file_kinds import MAX_SHOWN_BYTES, MAX_WHOLE_BYTES, FileContent, file_content, is_prose
from ingot.web.code.file_lines import FIRST_LINES, file_lines, highlighted_lines
from ingot.web.code.location import CodeLocation, code_location
from ingot.web.code.previews import is_previewable, preview_or_none
from ingot.web.code.prose import render_prose
from ingot.web.code.symbols import file_symbols
from ingot.web.code.trees import find_last_commit
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
_BLAME_PAGE_LINES = 1_000


@pages.get("/:path/-/blob/:rest", open=True, slashes="rest")
def show_file(visit: Visit) -> PageResponse:
    """Show a file; ``plain`` shows the source of Markdown and of files with a preview."""
    location = code_location(visit)
    if browser.kind_at(location.repository, location.commit, location.path) == "folder":
        return LocalRedirect(location.url("tree"))
    file = browser.read_file(location.repository, location.commit, location.path)
    file = browser.with_content(location.repository, file, MAX_SHOWN_BYTES)
    content = file_content(file)
    everything = "all" in visit.request.query or "rest" in visit.request.query
    is_short = content.kind == "text" and file.size <= MAX_WHOLE_BYTES
    has_views = is_short and (is_prose(location.path) or is_previewable(location.path))
    rendered = has_views and "plain" not in visit.request.query
    preview = preview_or_none(location, content.text) if rendered else None
    html = _file_html(location, content) if rendered and is_prose(location.path) else None
    rendered = preview is not None or html is not None
    lines = None
    if content.text and content.kind in ("text", "pointer") and not rendered:
        lines = file_lines(file.oid, content.text, language_of(location.path), everything=everything)
    if visit.headers.fragment and "rest" in visit.request.query and lines is not None:
        return TemplateResponse("code/_lines.html", {"rows": lines.rest})
    context: dict[str, Any] = {
        "location": location,
        "file": file,
        "content": content,
        "lines": lines,
        "symbols": file_symbols(content.text, language_of(location.path)) if lines is not None and is_short else [],
        "first_lines": FIRST_LINES,
        "has_views": has_views,
        "html": html,
        "preview": preview,
        "target": _symlink_target(location, content),
        "last": find_last_commit(location),
        "branch": location.branch,
        "executable": file.executable,
        "has_bidi": warns_of_characters(location.parent.project) and has_bidi_characters(content.text),
    }
    return location.parent.page("code/file.html", "code", context)


@pages.get("/:path/-/blame/:rest", open=True, slashes="rest")
def show_blame(visit: Visit) -> PageResponse:
    """Show the blame of a file, a thousand lines per page."""
    location = code_location(visit)
    file = browser.read_file(location.repository, location.commit, location.path)
    content = file_content(file)
    start = max(1, min(number_or_none(str(visit.request.query.get("start", ""))) or 1, 10**8))
    context: dict[str, Any] = {
        "location": location,
        "file": file,
        "content": content,
        "blame_parts": [],
        "highlighted": {},
        "has_bidi": warns_of_characters(location.parent.project) and has_bidi_characters(content.text),
        "notice": "",
        "following": None,
        "page_lines": _BLAME_PAGE_LINES,
    }
    if content.kind == "text" and content.text:
        total = content.text.count("\n") + (not content.text.endswith("\n"))
        try:
            end = min(total, start + _BLAME_PAGE_LINES - 1)
            context["blame_parts"] = browser.blame_lines(
                location.repository, location.commit, location.path, start, end
            )
            context["highlighted"] = highlighted_lines(content.text, language_of(location.path), start, end)
        except Invalid:
            context["notice"] = "Blame is not available, because the history of this file is too long."
        context["following"] = start + _BLAME_PAGE_LINES if start + _BLAME_PAGE_LINES <= total else None
    return location.parent.page("code/blame.html", "code", context)


def _file_html(location: CodeLocation, content: FileContent) -> Any:
    directory = posixpath.dirname(location.path)
    return render_prose(location, location.path, content.text, directory)


def _symlink_target(location: CodeLocation, content: FileContent) -> str:
    """Return the target of a symbolic link if it is in the repository."""
    if content.kind != "link" or content.text.startswith("/"):
        return ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(location.path), content.text))
    if not browser.is_safe_path(path) or path in (".", ".."):
        return ""
    return f"{location.parent.url}/-/tree/{quote(location.ref)}/{quote(path)}"
