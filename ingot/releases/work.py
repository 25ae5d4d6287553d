"""Publishing a release, with its tag where there is none yet, outside of transactions."""

from contextlib import suppress

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import Conflict, Invalid
from ingot.events.bus import emit
from ingot.git.tagging import tag_or_none
from ingot.releases.params import CreateRelease
from ingot.releases.service import add_links, add_milestones, find_milestones, link_columns
from ingot.repository.place import Place
from ingot.repository.tags import service as tags
from ingot.repository.tags.events import ReleaseChanged
from ingot.repository.tags.queries import release_or_none
from ingot.repository.tags.tables import Release
from ingot.repository.tags.work import TagExists, create_tag


def create_release(database: Database, actor: Actor, place: Place, wanted: CreateRelease) -> Release:
    """Tell about a tag; all that can be refused is refused before the tag is made."""
    name, project = wanted.tag_name, place.project
    links = link_columns((wanted.assets.links if wanted.assets else None) or [])

    def look(db: Connection) -> None:
        if release_or_none(db, project.id, name) is not None:
            raise Conflict("Release already exists")
        tags.require_release(db, actor, place.here, project, name)
        find_milestones(db, project.id, wanted.milestones, wanted.milestone_ids)

    database.read(look)
    if tag_or_none(place.repository, name) is None:
        if not wanted.ref:
            raise Invalid("Ref is not specified")
        with suppress(TagExists):  # Made a moment ago by somebody who may release it too: the later one is told.
            create_tag(database, actor, place, name, wanted.ref, wanted.tag_message or "")

    def publish(db: Connection) -> Release:
        release = tags.create_release(
            db,
            actor,
            place,
            name,
            name=wanted.name or None,
            description=wanted.description,
            released_at=wanted.released_at,
            complete=False,
        )
        add_links(db, release, links)
        # Looked up again: one may have gone while the tag was made.
        add_milestones(db, release, find_milestones(db, project.id, wanted.milestones, wanted.milestone_ids))
        emit(db, ReleaseChanged(release, "create"))
        return release

    return database.write(publish)
