"""Creation of a release and its tag, in git work and short transactions."""

from contextlib import suppress

from ingot.collaboration.releases.params import CreateRelease
from ingot.collaboration.releases.service import add_links, add_milestones, find_milestones, link_columns
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Invalid
from ingot.core.events.bus import emit
from ingot.git.history.tags import tag_or_none
from ingot.repositories.context import RepositoryContext
from ingot.repositories.tags import service as tags
from ingot.repositories.tags.change import TagExists, create_tag
from ingot.repositories.tags.events import ReleaseChanged
from ingot.repositories.tags.queries import release_or_none
from ingot.repositories.tags.tables import Release


def create_release(database: Database, actor: Actor, context: RepositoryContext, params: CreateRelease) -> Release:
    """Create a release, and its tag if it does not exist.

    Everything that can be refused is checked before the tag is created.
    """
    name, project = params.tag_name, context.project
    links = link_columns((params.assets.links if params.assets else None) or [])

    def check(db: Connection) -> None:
        if release_or_none(db, project.id, name) is not None:
            raise Conflict("Release already exists")
        tags.require_may_release(db, actor, context.access, project, name)
        find_milestones(db, project.id, params.milestones, params.milestone_ids)

    database.read(check)
    if tag_or_none(context.repository, name) is None:
        if not params.ref:
            raise Invalid("Ref is not specified")
        with suppress(TagExists):  # Created concurrently; the release itself is checked again when it is inserted.
            create_tag(database, actor, context, name, params.ref, params.tag_message or "")

    def publish(db: Connection) -> Release:
        release = tags.create_release(
            db,
            actor,
            context,
            name,
            name=params.name or None,
            description=params.description,
            released_at=params.released_at,
            complete=False,
        )
        add_links(db, release, links)
        # Queried again: a milestone may have been deleted while the tag was created.
        add_milestones(db, release, find_milestones(db, project.id, params.milestones, params.milestone_ids))
        emit(db, ReleaseChanged(release, "create"))
        return release

    return database.write(publish)
