"""Interface between rendering and its callers: the location of a text, and the links of its references."""

import posixpath
import re
from collections.abc import Callable, Sequence
from urllib.parse import quote, unquote

import msgspec

from ingot.core.markup.references import Reference

OWN_IDS = "user-content-"
"""Prefix of the ids in a text, so that they do not clash with the ids of the page."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class Link(msgspec.Struct, frozen=True):
    """The link of a reference that the reader may see."""

    url: str
    title: str = ""
    css_class: str = ""
    text: str | None = None
    """The link text; None for the text as written."""
    data: dict[str, str] = {}
    """Data attributes, such as ``{"user": "3"}``; only names in ``DATA`` are rendered."""


DATA = frozenset({"user", "group", "project", "issue", "merge-request", "label", "milestone", "snippet", "commit"})

ReferenceResolver = Callable[[Sequence[Reference]], Sequence[Link | None]]
"""Resolves all references of a text at once.

A reference to a record that does not exist or that the reader may not see resolves to None and stays plain text.
"""


class LinkContext(msgspec.Struct, frozen=True):
    """The location of a text, used to resolve its relative links."""

    base_url: str
    """The external URL of this server."""
    project: str | None = None
    """The full path of the project."""
    ref: str | None = None
    """The branch, tag or commit, where the text is a file of a repository."""
    directory: str = ""
    """The directory of that file, or of the wiki page."""
    wiki: bool = False
    """Whether the text is a page of the project's wiki."""
    positions: bool = False
    """Whether blocks get the attributes ``data-sourcepos`` and ``dir``, for clients of the API."""

    def link(self, url: str) -> str:
        """Return the absolute URL of a link in the text."""
        if url.startswith("#"):
            return f"#{OWN_IDS}{url[1:]}" if len(url) > 1 and not url.startswith(f"#{OWN_IDS}") else url
        return self._absolute(url, "blob")

    def image(self, url: str) -> str | None:
        """Return the absolute URL of an image in the text; None if its scheme is not allowed."""
        absolute = self._absolute(url, "raw")
        return absolute if absolute.startswith(("https://", "http://", "//", "/")) else None

    def _absolute(self, url: str, view: str) -> str:
        if self.project is None or not url or url.startswith("//") or _SCHEME.match(url):
            return url
        project = f"{self.base_url.rstrip('/')}/{self.project}"
        if url.startswith("/uploads/"):
            return project + url
        if self.wiki:
            return self._in_wiki(project, url)
        if self.ref is None:
            return url
        path, separator, rest = _split(url)
        path_in_repository = posixpath.normpath(
            posixpath.join("/", "" if path.startswith("/") else self.directory, unquote(path))
        )
        return f"{project}/{view}/{quote(self.ref)}/{quote(path_in_repository.lstrip('/'))}{separator}{rest}"

    def _in_wiki(self, project: str, url: str) -> str:
        """Resolve a link in a wiki: relative to the page if it begins with a dot, else to the wiki's root."""
        path, separator, rest = _split(url)
        start = self.directory if path.startswith(".") else ""
        page = posixpath.normpath(posixpath.join("/", start, unquote(path).lstrip("/")))
        return f"{project}/wikis/{quote(page.lstrip('/'))}{separator}{rest}"


def _split(url: str) -> tuple[str, str, str]:
    for position, character in enumerate(url):
        if character in "?#":
            return url[:position], character, url[position + 1 :]
    return url, "", ""
