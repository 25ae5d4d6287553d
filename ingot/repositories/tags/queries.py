"""Queries of tags and their releases."""

import re
from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.accounts.users.commit_addresses import commit_address
from ingot.accounts.users.queries import find_user
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.db.times import to_datetime
from ingot.core.errors import NotFound
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.refs import TAGS
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import MAX_INLINE, NamedRef, search_refs, sorted_refs
from ingot.git.history.commits import Signature
from ingot.git.history.ref_dates import sort_by_date
from ingot.git.history.tags import tag_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.tags.params import ListTags
from ingot.repositories.tags.tables import Release, releases

_IN_PROJECT = select(releases).where(releases.c.project_id == bindparam("project"))
_OF_TAG = _IN_PROJECT.where(releases.c.tag == bindparam("tag"))
_OF_TAGS = _IN_PROJECT.where(in_list(releases.c.tag, "tags"))
_NUMBERS = re.compile(rb"([0-9]+)")


def list_tags(repository: Repository, project: Project, params: ListTags, page: Page) -> Listing[NamedRef]:
    """List a page of a project's tags. Tag objects are read only for sorting by date."""
    tags: Sequence[NamedRef] = sorted_refs(repository, TAGS, project.generation)
    descending = params.sort == "desc"
    if params.search:
        tags = search_refs(tags, params.search)
    if params.order_by == "updated":
        tags = sort_by_date(repository, tags, newest_first=descending)
    elif params.order_by == "version":
        tags = _sorted_by_version(tags, descending=descending)
    elif descending:
        tags = tags[::-1]
    return slice_page(tags, page)


def _sorted_by_version(tags: Sequence[NamedRef], *, descending: bool) -> list[NamedRef]:
    if len(tags) > MAX_INLINE:
        require_blocking_allowed()
    return sorted(tags, key=lambda tag: _version_key(tag.name), reverse=descending)


def _version_key(name: bytes) -> list[tuple[int, bytes]]:
    """Return a sort key that compares numbers by value: by length first, since they may be too long to convert."""
    parts = _NUMBERS.split(name)
    return [(len(part.lstrip(b"0")), part.lstrip(b"0")) if index % 2 else (0, part) for index, part in enumerate(parts)]


def find_tag(repository: Repository, name: str) -> NamedRef:
    """Return the tag with this name (commit ids are not accepted); raise NotFound otherwise."""
    tag = tag_or_none(repository, name)
    if tag is None:
        raise NotFound("Tag")
    return tag


def releases_by_tag(db: Connection, project_id: int, tags: Sequence[str]) -> dict[str, Release]:
    """Return the releases of some tags by tag name."""
    return {release.tag: release for release in db.all(Release, _OF_TAGS, project=project_id, tags=list(tags))}


def release_or_none(db: Connection, project_id: int, tag: str) -> Release | None:
    """Return the release of a tag, if any."""
    return db.first(Release, _OF_TAG, project=project_id, tag=tag)


def find_release(db: Connection, project_id: int, tag: str) -> Release:
    """Return the release of a tag; raise NotFound otherwise."""
    release = release_or_none(db, project_id, tag)
    if release is None:
        raise NotFound()
    return release


def tagger_signature(db: Connection, actor: Actor) -> Signature:
    """Return the signature of a user for a tag created now."""
    user = find_user(db, actor.user_id)
    return Signature(user.name, commit_address(db, user), int(to_datetime(db.now).timestamp()), 0)
