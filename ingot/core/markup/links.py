"""What the markup room asks of its callers: where a text lies, and what its references lead to."""

import posixpath
import re
from collections.abc import Callable, Sequence
from urllib.parse import quote, unquote

import msgspec

from ingot.core.markup.references import Reference

OWN_IDS = "user-content-"
"""Ids of a text begin so, that none of them takes the place of one of a page's own."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class Link(msgspec.Struct, frozen=True):
    """What a reference leads to, for a reader who may see it."""

    url: str
    title: str = ""
    css_class: str = ""
    text: str | None = None
    """What stands there instead of what was written."""
    data: dict[str, str] = {}
    """Further facts, such as ``{"user": "3"}``; only those of ``DATA`` are shown."""


DATA = frozenset({"user", "group", "project", "issue", "merge-request", "label", "milestone", "snippet", "commit"})

ReferenceResolver = Callable[[Sequence[Reference]], Sequence[Link | None]]
"""Says for all references of a text at once what each leads to.

Nothing is the answer for what does not exist and for what the reader may not see: both stay as they were written.
"""


class LinkContext(msgspec.Struct, frozen=True):
    """Where a text lies, so that what it links to by a relative address is found."""

    base_url: str
    """Where the addresses of this house begin."""
    project: str | None = None
    """The full path of the project."""
    ref: str | None = None
    """The branch, tag or commit, where the text is a file of a repository."""
    directory: str = ""
    """And the directory that this file is in."""
    wiki: bool = False
    """Whether the text is a page of the project's wiki, in that directory."""

    def link(self, url: str) -> str:
        """The address that a link of the text leads to."""
        if url.startswith("#"):
            return f"#{OWN_IDS}{url[1:]}" if len(url) > 1 and not url.startswith(f"#{OWN_IDS}") else url
        return self._absolute(url, "blob")

    def image(self, url: str) -> str | None:
        """The address of an image of the text, where we show images from there."""
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
        path, mark, rest = _split(url)
        inside = posixpath.normpath(posixpath.join("/", "" if path.startswith("/") else self.directory, unquote(path)))
        return f"{project}/{view}/{quote(self.ref)}/{quote(inside.lstrip('/'))}{mark}{rest}"

    def _in_wiki(self, project: str, url: str) -> str:
        """What begins with a dot is beside the page, all else is named from the top of the wiki."""
        path, mark, rest = _split(url)
        start = self.directory if path.startswith(".") else ""
        inside = posixpath.normpath(posixpath.join("/", start, unquote(path).lstrip("/")))
        return f"{project}/wikis/{quote(inside.lstrip('/'))}{mark}{rest}"


def _split(url: str) -> tuple[str, str, str]:
    for position, sign in enumerate(url):
        if sign in "?#":
            return url[:position], sign, url[position + 1 :]
    return url, "", ""
