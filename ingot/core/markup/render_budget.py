"""Limit of the Markdown that is rendered for one response."""

MAX_NEW_CHARACTERS = 300_000


class RenderBudget:
    """Characters that may still be rendered for one response.

    Each text has limits of its own, but a page shows many of them. The first text is always rendered.
    Cached texts cost nothing, so the next request for the same page renders the texts that follow.
    """

    def __init__(self) -> None:
        self._used = 0
        self.postponed = False
        """Whether a text is shown as it was written, which a later request may render."""

    def take(self, characters: int) -> bool:
        """Return whether a text of this length may be rendered, and count it."""
        if self._used and self._used + characters > MAX_NEW_CHARACTERS:
            self.postponed = True
            return False
        self._used += characters
        return True
