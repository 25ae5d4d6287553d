"""Request parameters of snippets."""

from typing import Literal

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp

Visibility = Literal["private", "internal", "public"]


class ListSnippets(Params):
    """Filters of the list of snippets."""

    created_after: Timestamp | None = None
    created_before: Timestamp | None = None


class NewSnippetFile(Params):
    """A file of a new snippet."""

    file_path: str
    content: str


class SnippetFileChange(Params):
    """A change of a file."""

    action: Literal["create", "update", "delete", "move"]
    file_path: str | None = None
    previous_path: str | None = None
    content: str | None = None


class SnippetContent(Params):
    """The content of a new snippet: one file given by name and content, or several files."""

    title: str
    description: str | None = None
    file_name: str | None = None
    code: str | None = None
    content: str | None = None
    """The newer name of ``code``."""
    files: list[NewSnippetFile] | None = None


class CreateProjectSnippet(SnippetContent, kw_only=True):
    """A new snippet of a project."""

    visibility: Visibility


class CreateSnippet(SnippetContent):
    """A new personal snippet."""

    visibility: Visibility = "internal"


class EditSnippet(Params):
    """Changes of a snippet."""

    title: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    visibility: Visibility | UnsetType = UNSET
    file_name: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    content: str | UnsetType = UNSET
    files: list[SnippetFileChange] | UnsetType = UNSET
