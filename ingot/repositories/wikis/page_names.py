"""Titles, slugs and file names of wiki pages."""

from typing import Literal, NamedTuple

from ingot.git.history.commits import decode_text
from ingot.git.trees.entries import FOLDER, LINK, SUBMODULE, TreeEntry
from ingot.git.writing.path_rules import new_path_error

Format = Literal["markdown", "rdoc", "asciidoc", "org"]
MAX_SEGMENT_BYTES = 245
"""File systems allow 255 bytes, including the extension."""
_EXTENSIONS: dict[Format, str] = {"markdown": "md", "rdoc": "rdoc", "asciidoc": "asciidoc", "org": "org"}
_FORMATS: dict[str, Format] = {
    **{ending: format for format, ending in _EXTENSIONS.items()},
    "markdown": "markdown",
    "mdown": "markdown",
    "mkd": "markdown",
    "mkdn": "markdown",
    "adoc": "asciidoc",
}


class WikiPage(NamedTuple):
    """A page and its file; pushed files may have any name."""

    slug: str
    format: Format
    path: str
    oid: str

    @property
    def title(self) -> str:
        """Return the title for display, derived from the slug."""
        return self.slug.replace("-", " ")


def page_or_none_from_entry(entry: TreeEntry) -> WikiPage | None:
    """Return the page in a tree entry, or None if it is not a page."""
    if entry.mode in (FOLDER, LINK, SUBMODULE):
        return None
    path = decode_text(entry.path)
    slug, _, extension = path.rpartition(".")
    format = _FORMATS.get(extension.lower())
    return (
        WikiPage(slug, format, path, entry.oid)
        if format is not None and not slug.endswith(("/", ".")) and slug
        else None
    )


def slug_from_title(title: str) -> str:
    """Return the slug of a title for use in URLs."""
    parts = (part.strip() for part in title.strip().strip("/").split("/"))
    return "/".join("-".join(part.split(" ")) for part in parts)


def candidate_paths(slug: str) -> list[str]:
    """List the files that may contain the page with this slug, in order of preference."""
    names = dict.fromkeys((slug, slug.replace(" ", "-")))
    return [f"{name}.{extension}" for name in names for extension in _FORMATS]


def page_path(slug: str, format: Format) -> str:
    """Return the path of a page's file."""
    return f"{slug}.{_EXTENSIONS[format]}"


def title_error(title: str) -> str | None:
    """Return the reason why a title is invalid, or None."""
    slug = slug_from_title(title)
    if not slug:
        return "can't be blank"
    if any(len(part.encode()) > MAX_SEGMENT_BYTES for part in slug.split("/")):
        return f"is too long (maximum is {MAX_SEGMENT_BYTES} bytes for each part)"
    if not slug.isprintable():
        return "is invalid"
    error = new_path_error(slug)
    # Names that begin with a dot are hidden in a checkout, and git interprets some of them.
    return error or ("cannot begin with a dot" if any(part.startswith(".") for part in slug.split("/")) else None)
