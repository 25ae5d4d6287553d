"""How tags and their releases are found and listed."""

import re
from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.paging import Listing, Page, cut_page
from ingot.db.times import moment
from ingot.errors import NotFound
from ingot.git.commits import Signature
from ingot.git.ref_dates import by_date
from ingot.git.refs import TAGS
from ingot.git.repository import Repository
from ingot.git.sorted_refs import MOST_INLINE, NamedRef, search_refs, sorted_refs
from ingot.git.tagging import tag_or_none
from ingot.inline import expect_a_wait
from ingot.projects.tables import Project
from ingot.repository.tags.params import ListTags
from ingot.repository.tags.tables import Release, releases
from ingot.users.accounts.queries import find_user

_HERE = select(releases).where(releases.c.project_id == bindparam("project"))
_OF_TAG = _HERE.where(releases.c.tag == bindparam("tag"))
_OF_TAGS = _HERE.where(any_of(releases.c.tag, "tags"))
_NUMBERS = re.compile(rb"([0-9]+)")


def list_tags(repository: Repository, project: Project, wanted: ListTags, page: Page) -> Listing[NamedRef]:
    """A page of a project's tags; only references are looked at, unless they are to be sorted by their dates."""
    tags: Sequence[NamedRef] = sorted_refs(repository, TAGS, project.generation)
    backwards = wanted.sort == "desc"
    if wanted.search:
        tags = search_refs(tags, wanted.search)
    if wanted.order_by == "updated":
        tags = by_date(repository, tags, newest_first=backwards)
    elif wanted.order_by == "version":
        tags = _by_version(tags, backwards=backwards)
    elif backwards:
        tags = tags[::-1]
    return cut_page(tags, page)


def _by_version(tags: Sequence[NamedRef], *, backwards: bool) -> list[NamedRef]:
    if len(tags) > MOST_INLINE:
        expect_a_wait()
    return sorted(tags, key=lambda tag: _version(tag.name), reverse=backwards)


def _version(name: bytes) -> list[tuple[int, bytes]]:
    """A key in which numbers count as such: by their length first, since one may be too long to compute with."""
    parts = _NUMBERS.split(name)
    return [(len(part.lstrip(b"0")), part.lstrip(b"0")) if at % 2 else (0, part) for at, part in enumerate(parts)]


def find_tag(repository: Repository, name: str) -> NamedRef:
    """The tag of this name, and no other spelling of a commit."""
    tag = tag_or_none(repository, name)
    if tag is None:
        raise NotFound("Tag")
    return tag


def releases_of(db: Connection, project_id: int, tags: Sequence[str]) -> dict[str, Release]:
    """What is told about some tags, by their names."""
    return {release.tag: release for release in db.all(Release, _OF_TAGS, project=project_id, tags=list(tags))}


def release_or_none(db: Connection, project_id: int, tag: str) -> Release | None:
    """What is told about a tag, if anything."""
    return db.first(Release, _OF_TAG, project=project_id, tag=tag)


def find_release(db: Connection, project_id: int, tag: str) -> Release:
    """The same, which must be there."""
    release = release_or_none(db, project_id, tag)
    if release is None:
        raise NotFound()
    return release


def tagger_of(db: Connection, actor: Actor) -> Signature:
    """How a user signs a tag that is made at this moment."""
    user = find_user(db, actor.user_id)
    return Signature(user.name, user.email, int(moment(db.now).timestamp()), 0)
