"""How releases and their links are found and listed."""

from functools import cache

from sqlalchemy import bindparam, or_, select

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.db.schema import Record
from ingot.errors import NotFound
from ingot.milestones.queries import milestones_by_ids
from ingot.milestones.tables import Milestone, milestones
from ingot.projects.tables import Project
from ingot.releases.params import ListReleases
from ingot.releases.tables import ReleaseLink, release_links, release_milestones
from ingot.repository.tags.tables import Release, releases
from ingot.users.accounts.tables import users

_HERE = select(releases).where(releases.c.project_id == bindparam("project"))
_LATEST = (
    _HERE.where(releases.c.released_at <= bindparam("moment"))
    .order_by(releases.c.released_at.desc(), releases.c.id.desc())
    .limit(1)
)
_LINKS = select(release_links).where(release_links.c.release_id == bindparam("release"))
_LINK = _LINKS.where(release_links.c.id == bindparam("link"))
_LIST_LINKS = list_query(_LINKS, release_links.c.id, release_links.c.id.desc())
_LINKS_OF = (
    select(release_links).where(any_of(release_links.c.release_id, "releases")).order_by(release_links.c.id.desc())
)
_MILESTONES_OF = (
    select(release_milestones.c.release_id, release_milestones.c.milestone_id)
    .where(any_of(release_milestones.c.release_id, "releases"))
    .order_by(release_milestones.c.milestone_id)
)
_OWN_MILESTONES = select(milestones.c.id, milestones.c.title).where(
    milestones.c.project_id == bindparam("project"),
    or_(any_of(milestones.c.title, "titles"), any_of(milestones.c.id, "ids")),
)
_AUTHORS = select(
    users.c.id, users.c.username, users.c.name, users.c.state, users.c.avatar_id, users.c.avatar_file
).where(any_of(users.c.id, "authors"))


class Author(Record, frozen=True):
    """As much of a user as answers show."""

    id: int
    username: str
    name: str
    state: str
    avatar_id: int | None
    avatar_file: str | None


@cache
def _list_query(order_by: str, sort: str) -> ListQuery:
    columns = (releases.c[order_by], releases.c.id)
    return list_query(_HERE, releases.c.id, *(each.asc() if sort == "asc" else each.desc() for each in columns))


def list_releases(db: Connection, project: Project, wanted: ListReleases, page: Page) -> Listing[Release]:
    """A page of a project's releases."""
    return fetch_page(db, Release, _list_query(wanted.order_by, wanted.sort), page, project=project.id)


def latest_release(db: Connection, project: Project) -> Release:
    """The release that came out last; one that is yet to come out is none."""
    release = db.first(Release, _LATEST, project=project.id, moment=db.now)
    if release is None:
        raise NotFound()
    return release


def list_links(db: Connection, release: Release, page: Page) -> Listing[ReleaseLink]:
    """A page of a release's links, the newest first."""
    return fetch_page(db, ReleaseLink, _LIST_LINKS, page, release=release.id)


def all_links(db: Connection, release: Release) -> list[ReleaseLink]:
    """All of them."""
    return links_of(db, [release]).get(release.id, [])


def links_of(db: Connection, wanted: list[Release]) -> dict[int, list[ReleaseLink]]:
    """All links of some releases, by the release."""
    found: dict[int, list[ReleaseLink]] = {}
    for link in db.all(ReleaseLink, _LINKS_OF, releases=[release.id for release in wanted]):
        found.setdefault(link.release_id, []).append(link)
    return found


def link_or_none(db: Connection, release: Release, link_id: int) -> ReleaseLink | None:
    """One of a release's links."""
    return db.first(ReleaseLink, _LINK, release=release.id, link=link_id)


def find_link(db: Connection, release: Release, link_id: int) -> ReleaseLink:
    """The same, which must be there."""
    link = link_or_none(db, release, link_id)
    if link is None:
        raise NotFound()
    return link


def authors_of(db: Connection, wanted: list[Release]) -> dict[int, Author]:
    """Who published some releases."""
    ids = sorted({release.author_id for release in wanted if release.author_id is not None})
    return {author.id: author for author in db.all(Author, _AUTHORS, authors=ids)}


def milestones_of(db: Connection, wanted: list[Release]) -> dict[int, list[Milestone]]:
    """What was reached by some releases, by the release."""
    rows = list(db.rows(_MILESTONES_OF, releases=[release.id for release in wanted]))
    known = milestones_by_ids(db, [milestone for _, milestone in rows]) if rows else {}
    found: dict[int, list[Milestone]] = {}
    for release, milestone in rows:
        found.setdefault(release, []).append(known[milestone])
    return found


def own_milestones(db: Connection, project_id: int, titles: list[str], ids: list[int]) -> dict[int, str]:
    """The titles of a project's own milestones that are called so or have these numbers."""
    return dict(db.rows(_OWN_MILESTONES, project=project_id, titles=titles, ids=ids))
