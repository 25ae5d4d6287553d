"""What is being deleted, for whoever deleted it, until it is gone."""

import msgspec

from ingot.db.connection import Connection
from ingot.db.times import Timestamp
from ingot.errors import NotFound
from ingot.projects.leaving import list_leaving
from ingot.web.pages import Page, Pages, Reply, Visit
from ingot.web.signed import read_signed, signed

pages = Pages()
_PURPOSE = "deleting"


class Farewell(msgspec.Struct, frozen=True):
    """What is kept in the address: afterwards nothing else says who deleted what."""

    user: int
    kind: str
    path: str
    projects: int
    since: Timestamp


def farewell(visit: Visit, kind: str, path: str, projects: int) -> str:
    """Where to watch something go that is deleted from now on."""
    content = Farewell(visit.signed_in.id, kind, path, projects, visit.database.clock())
    return f"/-/deleting/{signed(visit.database.vault, _PURPOSE, content)}"


@pages.get("/-/deleting/:what")
def show_deleting(visit: Visit, db: Connection) -> Reply:
    """How far it is; a script asks for this part until all is gone."""
    found = read_signed(db.vault, _PURPOSE, visit.path["what"], Farewell)
    if found is None or found.user != visit.signed_in.id:
        raise NotFound("Page")
    left = list_leaving(db, found.path, found.since)
    context = {"going": found, "left": left, "gone": max(found.projects - left.number, 0), "address": visit.address}
    return Page("projects/_deleting.html" if visit.fragment else "projects/deleting.html", context)
