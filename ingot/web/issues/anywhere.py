"""Pages that projects and groups have alike: they are declared once for both, and asked the same way."""

from collections.abc import Callable

from ingot.db.connection import Connection
from ingot.web.issues.group_place import GroupPlace, group_place_of
from ingot.web.pages import Page, Pages, Reply, Visit
from ingot.web.projects.place import Place, place_of

Somewhere = Place | GroupPlace
Shows = Callable[[Somewhere], Reply]
_STARTS: tuple[tuple[str, Callable[[Visit], Somewhere]], ...] = (
    ("/:path/-", place_of),
    ("/groups/:path/-", group_place_of),
)


class PlacedPages:
    """Declares pages of projects and of groups at once."""

    def __init__(self) -> None:
        self.pages = Pages()

    def get(self, path: str, *, open: bool = False) -> Callable[[Shows], Shows]:
        """A page to read."""

        def declare(show: Shows) -> Shows:
            for start, find in _STARTS:
                self.pages.get(start + path, open=open)(_reading(find, show))
            return show

        return declare

    def form(self, method: str, path: str) -> Callable[[Shows], Shows]:
        """What a form does."""

        def declare(act: Shows) -> Shows:
            for start, find in _STARTS:
                getattr(self.pages, method)(start + path)(_acting(find, act))
            return act

        return declare


def _reading(find: Callable[[Visit], Somewhere], show: Shows) -> Callable[[Visit, Connection], Reply]:
    return lambda visit, _: show(find(visit))


def _acting(find: Callable[[Visit], Somewhere], act: Shows) -> Callable[[Visit], Reply]:
    return lambda visit: act(find(visit))


def framed(place: Somewhere, template: str, tab: str, context: dict[str, object], status: int = 200) -> Page:
    """A page whose template stands in the frame of a project or of a group."""
    frame = "project.html" if isinstance(place, Place) else "issues/group.html"
    # A project shows its plans below its issues.
    return place.page(template, "issues" if isinstance(place, Place) else tab, {"frame": frame, **context}, status)
