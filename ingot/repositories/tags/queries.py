"""How tags and their releases are found and listed."""

import re
from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.accounts.users.queries import find_user
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.db.times import to_datetime
from ingot.errors import NotFound
from ingot.git.core.refs import TAGS
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import MAX_INLINE, NamedRef, search_refs, sorted_refs
from ingot.git.history.commits import Signature
from ingot.git.history.ref_dates import sort_by_date
from ingot.git.history.tags import tag_or_none
from ingot.offload import require_blocking_allowed
from ingot.projects.projects.tables import Project
from ingot.repositories.tags.params import ListTags
from ingot.repositories.tags.tables import Release, releases

_IN_PROJECT = select(releases).where(releases.c.project_id == bindparam("project"))
_OF_TAG = _IN_PROJECT.where(releases.c.tag == bindparam("tag"))
_OF_TAGS = _IN_PROJECT.where(in_list(releases.c.tag, "tags"))
_NUMBERS = re.compile(rb"([0-9]+)")


def list_tags(repository: Repository, project: Project, params: ListTags, page: Page) -> Listing[NamedRef]:
    """A page of a project's tags; only references are looked at, unless they are to be sorted by their dates."""
    tags: Sequence[NamedRef] = sorted_refs(repository, TAGS, project.generation)
    backwards = params.sort == "desc"
    if params.search:
        tags = search_refs(tags, params.search)
    if params.order_by == "updated":
        tags = sort_by_date(repository, tags, newest_first=backwards)
    elif params.order_by == "version":
        tags = _sorted_by_version(tags, backwards=backwards)
    elif backwards:
        tags = tags[::-1]
    return slice_page(tags, page)


def _sorted_by_version(tags: Sequence[NamedRef], *, backwards: bool) -> list[NamedRef]:
    if len(tags) > MAX_INLINE:
        require_blocking_allowed()
    return sorted(tags, key=lambda tag: _version_key(tag.name), reverse=backwards)


def _version_key(name: bytes) -> list[tuple[int, bytes]]:
    """A key in which numbers count as such: by their length first, since one may be too long to compute with."""
    parts = _NUMBERS.split(name)
    return [(len(part.lstrip(b"0")), part.lstrip(b"0")) if at % 2 else (0, part) for at, part in enumerate(parts)]


def find_tag(repository: Repository, name: str) -> NamedRef:
    """The tag of this name, and no other spelling of a commit."""
    tag = tag_or_none(repository, name)
    if tag is None:
        raise NotFound("Tag")
    return tag


def releases_by_tag(db: Connection, project_id: int, tags: Sequence[str]) -> dict[str, Release]:
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


def tagger_signature(db: Connection, actor: Actor) -> Signature:
    """How a user signs a tag that is made at this moment."""
    user = find_user(db, actor.user_id)
    return Signature(user.name, user.email, int(to_datetime(db.now).timestamp()), 0)
