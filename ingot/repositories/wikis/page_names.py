"""What pages are called: by their titles, in addresses, and as files of the wiki's repository."""

from typing import Literal, NamedTuple

from ingot.git.history.commits import decode_text
from ingot.git.trees.entries import FOLDER, LINK, SUBMODULE, TreeEntry
from ingot.git.writing.path_rules import new_path_error

Format = Literal["markdown", "rdoc", "asciidoc", "org"]
MAX_SEGMENT_BYTES = 245
"""In bytes; an ending comes behind it, and file systems take 255."""
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
    """A page by its file, which may have come by a push and be called in any way."""

    slug: str
    format: Format
    path: str
    oid: str

    @property
    def title(self) -> str:
        """The slug as people read it."""
        return self.slug.replace("-", " ")


def page_or_none_from_entry(entry: TreeEntry) -> WikiPage | None:
    """The page that a file is; nothing where it is none."""
    if entry.mode in (FOLDER, LINK, SUBMODULE):
        return None
    path = decode_text(entry.path)
    slug, _, ending = path.rpartition(".")
    format = _FORMATS.get(ending.lower())
    return (
        WikiPage(slug, format, path, entry.oid)
        if format is not None and not slug.endswith(("/", ".")) and slug
        else None
    )


def slug_from_title(title: str) -> str:
    """A title as it stands in addresses."""
    parts = (part.strip() for part in title.strip().strip("/").split("/"))
    return "/".join("-".join(part.split(" ")) for part in parts)


def candidate_paths(slug: str) -> list[str]:
    """The files that a page with this slug may be, those first that we make ourselves."""
    names = dict.fromkeys((slug, slug.replace(" ", "-")))
    return [f"{name}.{ending}" for name in names for ending in _FORMATS]


def page_path(slug: str, format: Format) -> str:
    """The file that we make of a page."""
    return f"{slug}.{_EXTENSIONS[format]}"


def title_error(title: str) -> str | None:
    """Why no page can have this title; nothing where one can."""
    slug = slug_from_title(title)
    if not slug:
        return "can't be blank"
    if any(len(part.encode()) > MAX_SEGMENT_BYTES for part in slug.split("/")):
        return f"is too long (maximum is {MAX_SEGMENT_BYTES} bytes for each part)"
    if not slug.isprintable():
        return "is invalid"
    trouble = new_path_error(slug)
    # What begins with a dot would be hidden in a checkout, and some of it read by git.
    return trouble or ("cannot begin with a dot" if any(part.startswith(".") for part in slug.split("/")) else None)
