"""The pages of this room, for the door."""

from ingot.web.code import (
    branches,
    commit,
    comparing,
    contexts,
    contributors,
    downloads,
    editing,
    files,
    finding,
    history,
    pipelines,
    releases,
    tags,
    trees,
)
from ingot.web.pages import Pages

PAGES: tuple[Pages, ...] = (
    trees.pages,
    files.pages,
    finding.pages,
    downloads.pages,
    history.pages,
    commit.pages,
    comparing.pages,
    contexts.pages,
    branches.pages,
    tags.pages,
    releases.pages,
    pipelines.pages,
    contributors.pages,
    editing.pages,
)
