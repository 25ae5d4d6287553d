"""Response structs of code matches; other results use the views of their packages."""

from pathlib import PurePosixPath

import msgspec

from ingot.core.api.views import View
from ingot.git.history.commits import Commit, decode_text
from ingot.git.trees.search import CodeMatch
from ingot.repositories.commits.views import CommitView, commit_view


class FoundCommitView(CommitView, kw_only=True):
    """A commit and its project."""

    project_id: int


class FoundFileView(View):
    """Matching lines of a file."""

    basename: str
    """The path without the extension."""
    data: str
    path: str
    filename: str
    """Older name of ``path``."""
    id: int | None
    ref: str
    startline: int
    project_id: int


def found_commit_view(commit: Commit, project_id: int, project_url: str) -> FoundCommitView:
    """Return the view of a matching commit."""
    return FoundCommitView(*msgspec.structs.astuple(commit_view(commit, project_url)), project_id=project_id)


def found_file_view(match: CodeMatch, ref: str, project_id: int) -> FoundFileView:
    """Return the view of matching lines."""
    path = decode_text(match.path)
    basename = path.removesuffix(PurePosixPath(path).suffix)
    return FoundFileView(basename, decode_text(match.lines), path, path, None, ref, match.first_line, project_id)
