"""Routes of the repository pages."""

from ingot.web.code import (
    branches,
    commit,
    comparison,
    contributors,
    diff_context,
    downloads,
    file_editor,
    file_finder,
    files,
    history,
    releases,
    tags,
    trees,
)
from ingot.web.page_routes import PageRoutes

PAGES: tuple[PageRoutes, ...] = (
    trees.pages,
    files.pages,
    file_finder.pages,
    downloads.pages,
    history.pages,
    commit.pages,
    comparison.pages,
    diff_context.pages,
    branches.pages,
    tags.pages,
    releases.pages,
    contributors.pages,
    file_editor.pages,
)
