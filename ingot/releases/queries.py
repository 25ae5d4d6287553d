"""How releases and their links are found and listed."""

from functools import cache

from sqlalchemy import bindparam, select

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.db.schema import Record
from ingot.errors import NotFound
from ingot.projects.tables import Project
from ingot.releases.params import ListReleases
from ingot.releases.tables import ReleaseLink, release_links
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
