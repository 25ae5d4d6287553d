"""Queries of releases, their links and their milestones."""

from functools import lru_cache
from typing import Any

from sqlalchemy import Select, bindparam, or_, select

from ingot.accounts.users.tables import users
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.tables import Milestone, milestones
from ingot.collaboration.releases.params import ListGroupReleases, ListReleases, ReleaseOrder
from ingot.collaboration.releases.tables import ReleaseLink, release_links, release_milestones
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.schema import Record
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.tags.policy import releases_enabled, visible_releases
from ingot.repositories.tags.tables import Release, releases

_IN_PROJECT = select(releases).where(releases.c.project_id == bindparam("project"))
_LATEST = {
    order_by: _IN_PROJECT.where(releases.c.released_at <= bindparam("moment"))
    .order_by(releases.c[order_by].desc(), releases.c.id.desc())
    .limit(1)
    for order_by in ("released_at", "created_at")
}
_PREVIOUS = (
    _IN_PROJECT.where(releases.c.released_at < bindparam("moment"))
    .order_by(releases.c.released_at.desc(), releases.c.id.desc())
    .limit(1)
)
_LINKS = select(release_links).where(release_links.c.release_id == bindparam("release"))
_LINK = _LINKS.where(release_links.c.id == bindparam("link"))
_LINK_BY_PATH = _LINKS.where(release_links.c.filepath == bindparam("filepath"))
_LIST_LINKS = list_query(_LINKS, release_links.c.id, release_links.c.id.desc())
_LINKS_OF = (
    select(release_links).where(in_list(release_links.c.release_id, "releases")).order_by(release_links.c.id.desc())
)
_MILESTONES_OF = (
    select(release_milestones.c.release_id, release_milestones.c.milestone_id)
    .where(in_list(release_milestones.c.release_id, "releases"))
    .order_by(release_milestones.c.milestone_id)
)
_OWN_MILESTONES = select(milestones.c.id, milestones.c.title).where(
    milestones.c.project_id == bindparam("project"),
    or_(in_list(milestones.c.title, "titles"), in_list(milestones.c.id, "ids")),
)
_AUTHORS = select(
    users.c.id, users.c.username, users.c.name, users.c.state, users.c.avatar_id, users.c.avatar_file, users.c.bot
).where(in_list(users.c.id, "authors"))


class ReleaseAuthor(Record, frozen=True):
    """The columns of a user that responses contain."""

    id: int
    username: str
    name: str
    state: str
    avatar_id: int | None
    avatar_file: str | None
    bot: bool


def _ordered(matching: Select[Any], order_by: str, sort: str) -> ListQuery:
    columns = (releases.c[order_by], releases.c.id)
    return list_query(
        matching, releases.c.id, *(column.asc() if sort == "asc" else column.desc() for column in columns)
    )


@lru_cache(maxsize=256)
def _list_query(order_by: str, sort: str) -> ListQuery:
    return _ordered(_IN_PROJECT, order_by, sort)


@lru_cache(maxsize=256)
def _group_query(caller: str, order_by: str, sort: str) -> ListQuery:
    below = projects.c.namespace_id.in_(
        select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("group"))
    )
    visible = releases_enabled() if caller == "all" else visible_releases(external=caller == "external")
    matching = select(releases).join(projects, projects.c.id == releases.c.project_id).where(below, visible)
    return _ordered(matching, order_by, sort)


def list_releases(db: Connection, project: Project, params: ListReleases, page: Page) -> Listing[Release]:
    """Return a page of a project's releases."""
    return fetch_page(db, Release, _list_query(params.order_by, params.sort), page, project=project.id)


def list_group_releases(
    db: Connection, actor: Actor, group_id: int, params: ListGroupReleases, page: Page
) -> Listing[Release]:
    """Return a page of the releases below a group that the caller may read."""
    if actor.admin:
        return fetch_page(db, Release, _group_query("all", params.order_by, params.sort), page, group=group_id)
    query = _group_query("external" if actor.external else "user", params.order_by, params.sort)
    values = {"group": group_id, "actor": actor.user_id, "today": db.today}
    return fetch_page(db, Release, query, page, **values)


def latest_release_or_none(db: Connection, project: Project, order_by: ReleaseOrder = "released_at") -> Release | None:
    """Return the latest release that is not upcoming, or None."""
    return db.first(Release, _LATEST[order_by], project=project.id, moment=db.now)


def previous_release_or_none(db: Connection, project_id: int, moment: Timestamp) -> Release | None:
    """Return the latest release before a moment, or None."""
    return db.first(Release, _PREVIOUS, project=project_id, moment=moment)


def find_latest_release(db: Connection, project: Project) -> Release:
    """Return the latest release that is not upcoming; raise NotFound if there is none."""
    release = latest_release_or_none(db, project)
    if release is None:
        raise NotFound()
    return release


def list_links(db: Connection, release: Release, page: Page) -> Listing[ReleaseLink]:
    """Return a page of a release's links, newest first."""
    return fetch_page(db, ReleaseLink, _LIST_LINKS, page, release=release.id)


def links_of_release(db: Connection, release: Release) -> list[ReleaseLink]:
    """List all links of a release, newest first."""
    return links_by_release(db, [release]).get(release.id, [])


def links_by_release(db: Connection, releases: list[Release]) -> dict[int, list[ReleaseLink]]:
    """Map release ids to their links, newest first."""
    links: dict[int, list[ReleaseLink]] = {}
    for link in db.all(ReleaseLink, _LINKS_OF, releases=[release.id for release in releases]):
        links.setdefault(link.release_id, []).append(link)
    return links


def link_or_none(db: Connection, release: Release, link_id: int) -> ReleaseLink | None:
    """Return a link of a release by its id, or None."""
    return db.first(ReleaseLink, _LINK, release=release.id, link=link_id)


def find_link_by_path(db: Connection, release: Release, path: str) -> ReleaseLink:
    """Return a link of a release by its path for downloads; raise NotFound if there is none."""
    link = None if "\0" in path else db.first(ReleaseLink, _LINK_BY_PATH, release=release.id, filepath=f"/{path}")
    if link is None:
        raise NotFound()
    return link


def find_link(db: Connection, release: Release, link_id: int) -> ReleaseLink:
    """Return a link of a release by its id; raise NotFound if there is none."""
    link = link_or_none(db, release, link_id)
    if link is None:
        raise NotFound()
    return link


def authors_by_id(db: Connection, releases: list[Release]) -> dict[int, ReleaseAuthor]:
    """Map user ids to the authors of releases."""
    ids = sorted({release.author_id for release in releases if release.author_id is not None})
    return {author.id: author for author in db.all(ReleaseAuthor, _AUTHORS, authors=ids)}


def milestones_by_release(db: Connection, releases: list[Release]) -> dict[int, list[Milestone]]:
    """Map release ids to their milestones."""
    rows = list(db.rows(_MILESTONES_OF, releases=[release.id for release in releases]))
    milestones = milestones_by_ids(db, [milestone_id for _, milestone_id in rows]) if rows else {}
    result: dict[int, list[Milestone]] = {}
    for release_id, milestone_id in rows:
        result.setdefault(release_id, []).append(milestones[milestone_id])
    return result


def project_milestone_titles(db: Connection, project_id: int, titles: list[str], ids: list[int]) -> dict[int, str]:
    """Map the ids of a project's own milestones with these titles or ids to their titles."""
    return dict(db.rows(_OWN_MILESTONES, project=project_id, titles=titles, ids=ids))
