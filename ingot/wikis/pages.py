"""What pages are called: by their titles, in addresses, and as files of the wiki's repository."""

from typing import Literal, NamedTuple

from ingot.git.commits import decoded
from ingot.git.entries import FOLDER, LINK, MODULE, Entry
from ingot.git.new_paths import new_path_trouble

Format = Literal["markdown", "rdoc", "asciidoc", "org"]
LONGEST_PART = 245
"""In bytes; an ending comes behind it, and file systems take 255."""
_ENDINGS: dict[Format, str] = {"markdown": "md", "rdoc": "rdoc", "asciidoc": "asciidoc", "org": "org"}
_FORMATS: dict[str, Format] = {
    **{ending: format for format, ending in _ENDINGS.items()},
    "markdown": "markdown",
    "mdown": "markdown",
    "mkd": "markdown",
    "mkdn": "markdown",
    "adoc": "asciidoc",
}


class Page(NamedTuple):
    """A page by its file, which may have come by a push and be called in any way."""

    slug: str
    format: Format
    path: str
    oid: str

    @property
    def title(self) -> str:
        """The slug as people read it."""
        return self.slug.replace("-", " ")


def page_of(entry: Entry) -> Page | None:
    """The page that a file is; nothing where it is none."""
    if entry.mode in (FOLDER, LINK, MODULE):
        return None
    path = decoded(entry.path)
    slug, _, ending = path.rpartition(".")
    format = _FORMATS.get(ending.lower())
    return (
        Page(slug, format, path, entry.oid) if format is not None and not slug.endswith(("/", ".")) and slug else None
    )


def slug_of(title: str) -> str:
    """A title as it stands in addresses."""
    parts = (part.strip() for part in title.strip().strip("/").split("/"))
    return "/".join("-".join(part.split(" ")) for part in parts)


def possible_paths(slug: str) -> list[str]:
    """The files that a page with this slug may be, those first that we make ourselves."""
    names = dict.fromkeys((slug, slug.replace(" ", "-")))
    return [f"{name}.{ending}" for name in names for ending in _FORMATS]


def path_of(slug: str, format: Format) -> str:
    """The file that we make of a page."""
    return f"{slug}.{_ENDINGS[format]}"


def title_trouble(title: str) -> str | None:
    """Why no page can have this title; nothing where one can."""
    slug = slug_of(title)
    if not slug:
        return "can't be blank"
    if any(len(part.encode()) > LONGEST_PART for part in slug.split("/")):
        return f"is too long (maximum is {LONGEST_PART} bytes for each part)"
    if not slug.isprintable():
        return "is invalid"
    trouble = new_path_trouble(slug)
    # What begins with a dot would be hidden in a checkout, and some of it read by git.
    return trouble or ("cannot begin with a dot" if any(part.startswith(".") for part in slug.split("/")) else None)
