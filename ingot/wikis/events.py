"""What is announced of wikis."""

from typing import Literal

from ingot.events.bus import Event
from ingot.wikis.pages import Page

Doing = Literal["create", "update", "delete"]


class WikiPageChanged(Event, frozen=True):
    """A page was written, changed or removed, through the API or by a push; of one that is gone, what it was."""

    project_id: int
    actor_id: int
    repository_key: str
    page: Page
    action: Doing
    message: str
