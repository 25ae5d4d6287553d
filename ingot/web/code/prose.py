"""Rendering of files that are texts with markup: Markdown and reStructuredText."""

import posixpath

from markupsafe import Markup

from ingot.core.errors import NotFound
from ingot.core.markup.includes import expand_includes
from ingot.repositories import browser
from ingot.web.code.file_kinds import file_content, is_markdown
from ingot.web.code.location import CodeLocation
from ingot.web.texts import render_markdown, render_restructured_text


def render_prose(location: CodeLocation, path: str, text: str, directory: str) -> Markup | None:
    """Return a file as HTML; None if it must be shown as source. Relative links begin at ``directory``."""
    visit, project = location.parent.visit, location.parent.project
    if not is_markdown(path):
        return render_restructured_text(visit, text, project, ref=location.ref, directory=directory)
    expanded = expand_includes(text, lambda included: _text_or_none(location, directory, included))
    return render_markdown(visit, expanded, project.id, ref=location.ref, directory=directory)


def _text_or_none(location: CodeLocation, directory: str, included: str) -> str | None:
    """Return the text of a file of the same commit; paths begin at the folder of the file, or at the root with "/"."""
    path = posixpath.normpath(posixpath.join("/", "" if included.startswith("/") else directory, included)).lstrip("/")
    if not path or not browser.is_safe_path(path):
        return None
    try:
        content = file_content(browser.read_file(location.repository, location.commit, path))
    except NotFound:
        return None
    return content.text if content.kind == "text" else None
