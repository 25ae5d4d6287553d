"""One file of a repository: as it is shown, who wrote its lines, as it is, and packed with all others."""

import posixpath
from typing import Any
from urllib.parse import quote

from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.errors import Invalid, NotFound
from ingot.git.blame import MOST_LINES as MOST_BLAMED
from ingot.git.entries import FOLDER, entry_at
from ingot.git.paths import path_trouble, spellings
from ingot.markup.highlighting import language_of
from ingot.repository.commits.views import shown_time, shown_title
from ingot.repository.files.params import LineRange
from ingot.repository.files.queries import File as FileAt
from ingot.repository.files.queries import blame_file, find_file
from ingot.web.code.lines import lines_of
from ingot.web.code.reading import Content, content_of, is_markdown
from ingot.web.code.trees import last_commit
from ingot.web.code.where import Where, where_of
from ingot.web.directions import turns
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.texts import html_of

pages = Pages()
_BLAMED_AT_ONCE = 1_000


@pages.get("/:path/-/blob/:rest", open=True, slashes="rest")
def show_file(visit: Visit, db: Connection) -> Reply:
    """A file with its lines, or what else it is; ``plain`` shows markdown as it was written."""
    where = where_of(visit, db)
    if _is_folder(where):
        return Redirect(where.url("tree"))
    file = find_file(where.repository, where.commit, where.path)
    content = content_of(file)
    everything = "all" in visit.query or "rest" in visit.query
    rendered = content.kind == "text" and is_markdown(where.path) and "plain" not in visit.query
    lines = None
    if content.text and content.kind in ("text", "pointer") and not rendered:
        lines = lines_of(file.entry.oid, content.text, language_of(where.path), everything=everything)
    if visit.fragment and "rest" in visit.query and lines is not None:
        return Page("code/_lines.html", {"rows": lines.rest})
    context: dict[str, Any] = {
        "where": where,
        "file": file,
        "content": content,
        "lines": lines,
        "markdown": content.kind == "text" and is_markdown(where.path),
        "html": _html(where, content) if rendered else None,
        "target": _target(where, content),
        "last": last_commit(where),
        "branch": where.branch,
        "executable": file.entry.mode == 0o100755,
        "turns": turns(content.text),
    }
    return where.place.page("code/file.html", "code", context)


@pages.get("/:path/-/blame/:rest", open=True, slashes="rest")
def show_blame(visit: Visit, db: Connection) -> Reply:
    """Who wrote the lines of a file last, a thousand at a time."""
    where = where_of(visit, db)
    file = find_file(where.repository, where.commit, where.path)
    content = content_of(file)
    start = max(1, min(number_or_none(str(visit.query.get("start", ""))) or 1, 10**8))
    context: dict[str, Any] = {
        "where": where,
        "file": file,
        "content": content,
        "parts_of": [],
        "turns": turns(content.text),
        "said": "",
        "following": None,
    }
    if content.kind == "text" and content.text:
        total = content.text.count("\n") + (not content.text.endswith("\n"))
        try:
            context["parts_of"] = _blamed(file, start, min(total, start + _BLAMED_AT_ONCE - 1))
        except Invalid:
            context["said"] = "The history of this file is too long to tell who wrote its lines."
        context["following"] = start + _BLAMED_AT_ONCE if start + _BLAMED_AT_ONCE <= total else None
    return where.place.page("code/blame.html", "code", context)


def _blamed(file: FileAt, start: int, end: int) -> list[dict[str, Any]]:
    if end < start or end - start > MOST_BLAMED:
        raise NotFound("File")
    blamed, commits = blame_file(file, LineRange(start=start, end=end))
    parts, number = [], start
    for part in blamed:
        commit = commits[part.commit]
        lines = [line.decode(errors="replace").removesuffix("\r") for line in part.lines]
        parts.append(
            {
                "id": commit.oid,
                "title": shown_title(commit),
                "author": commit.author.name,
                "time": shown_time(commit.author),
                "lines": list(enumerate(lines, number)),
            }
        )
        number += len(lines)
    return parts


def _html(where: Where, content: Content) -> Any:
    directory = posixpath.dirname(where.path)
    return html_of(where.place.visit, content.text, where.place.project.id, ref=where.ref, directory=directory)


def _target(where: Where, content: Content) -> str:
    """Where a symbolic link leads to, if that is in the repository."""
    if content.kind != "link" or content.text.startswith("/"):
        return ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(where.path), content.text))
    if path_trouble(path) is not None or path in (".", ".."):
        return ""
    return f"{where.place.url}/-/tree/{quote(where.ref)}/{quote(path)}"


def _is_folder(where: Where) -> bool:
    if not where.path:
        return True
    entries = [entry_at(where.repository, where.commit, raw) for raw in spellings(where.path)]
    return any(entry is not None and entry.mode == FOLDER for entry in entries)
