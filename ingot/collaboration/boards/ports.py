"""Defaults of boards that the profile of the instance decides."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BoardDefaults:
    """Port to the profile."""

    has_first_board: bool
    """Whether a new project has a board; current versions of GitLab create it with the first visit of its page."""
