"""Events of wikis."""

from typing import Literal

from ingot.core.events.bus import Event
from ingot.repositories.wikis.page_names import WikiPage

PageAction = Literal["create", "update", "delete"]


class WikiPageChanged(Event, frozen=True):
    """A page was created, updated or deleted through the API or by a push; ``page`` is its last state."""

    project_id: int
    actor_id: int
    repository_key: str
    page: WikiPage
    action: PageAction
    message: str
