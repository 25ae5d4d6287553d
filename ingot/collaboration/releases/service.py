"""State changes of releases and their links."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import UNSET
from sqlalchemy import bindparam, delete, select

from ingot.collaboration.releases.params import CreateLink, EditLink, EditRelease
from ingot.collaboration.releases.queries import find_link, links_of_release, project_milestone_titles
from ingot.collaboration.releases.tables import ReleaseLink, release_links, release_milestones
from ingot.core.access.actor import Actor
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, NotFound, too_long_message
from ingot.repositories.context import RepositoryContext
from ingot.repositories.tags import service as tags
from ingot.repositories.tags.queries import find_release
from ingot.repositories.tags.tables import Release, releases

MAX_LINKS = 1000
"""Limited because every response contains all links."""
MAX_MILESTONES = 100
MAX_LENGTH = 255
MAX_URL_LENGTH = 2048
MAX_PATH_LENGTH = 128
_URL = re.compile(r"(?:https?|ftp)://[^\s\x00-\x1f\x7f\"<>\\^`|]+", re.IGNORECASE)
_PATH = re.compile(r"(?:/[-.\w]+)+", re.ASCII)
_FOR_UPDATE = select(releases.c.id).where(releases.c.id == bindparam("release")).with_for_update()
_WITHOUT_MILESTONES = delete(release_milestones).where(release_milestones.c.release_id == bindparam("release"))
_UNIQUE = ("name", "url", "filepath")


def find_milestones(db: Connection, project_id: int, titles: list[str] | None, ids: list[int] | None) -> list[int]:
    """Return the ids of the requested milestones; raise Invalid if one is not the project's own."""
    if titles and ids:
        raise Invalid("milestones, milestone_ids are mutually exclusive")
    if len(titles or ids or []) > MAX_MILESTONES:
        raise Invalid(f"A release can have {MAX_MILESTONES} milestones at most")
    if not titles and not ids:
        return []
    titles_by_id = project_milestone_titles(db, project_id, titles or [], ids or [])
    missing = [title for title in titles or [] if title not in titles_by_id.values()]
    missing += [str(milestone_id) for milestone_id in ids or [] if milestone_id not in titles_by_id]
    if missing:
        raise Invalid(f"Milestone(s) not found: {', '.join(missing)}")
    return sorted(titles_by_id)


def add_milestones(db: Connection, release: Release, ids: Sequence[int]) -> None:
    """Link milestones to a release."""
    for milestone_id in ids:
        db.insert_row(release_milestones, release_id=release.id, milestone_id=milestone_id)


def edit_release(db: Connection, release: Release, params: EditRelease) -> Release:
    """Update the given fields of a release."""
    titles, ids = params.milestones, params.milestone_ids
    if titles is not UNSET or ids is not UNSET:
        # Lock the row: of two concurrent requests the later one wins, instead of both adding milestones.
        if db.value(_FOR_UPDATE, release=release.id) is None:
            raise NotFound
        milestone_ids = find_milestones(db, release.project_id, titles or None, ids or None)
        db.run(_WITHOUT_MILESTONES, release=release.id)
        add_milestones(db, release, milestone_ids)
    return tags.edit_release(db, release, given_fields(params, "milestones", "milestone_ids"))


def link_columns(links: Sequence[CreateLink]) -> list[dict[str, Any]]:
    """Validate new links and return their columns; raise Invalid if one is not valid or not unique."""
    if len(links) > MAX_LINKS:
        raise Invalid(f"A release can have {MAX_LINKS} links at most")
    rows: list[dict[str, Any]] = []
    for link in links:
        row = {
            "name": link.name,
            "url": link.url,
            "link_type": link.link_type,
            "filepath": link.direct_asset_path or link.filepath or None,
        }
        _validate(row, rows)
        rows.append(row)
    return rows


def add_links(db: Connection, release: Release, rows: Sequence[dict[str, Any]]) -> None:
    """Insert the links of a new release, oldest first."""
    for row in rows:
        db.insert_row(release_links, release_id=release.id, created_at=db.now, **row)


def create_link(db: Connection, release: Release, params: CreateLink) -> ReleaseLink:
    """Add a link to a release."""
    row = _new_link_columns(db, release, params)
    return find_link(db, release, db.insert(release_links, release_id=release.id, created_at=db.now, **row))


def require_may_add_link(
    db: Connection, actor: Actor, context: RepositoryContext, tag: str, params: CreateLink
) -> None:
    """Raise what refuses a link; called before the file that it leads to is stored."""
    release = find_release(db, context.project.id, tag)
    tags.require_may_release(db, actor, context.access, context.project, tag)
    _new_link_columns(db, release, params)


def _new_link_columns(db: Connection, release: Release, params: CreateLink) -> dict[str, Any]:
    """Validate a new link of a release and return its columns; raise Invalid."""
    (row,) = link_columns([params])
    others = links_of_release(db, release)
    if len(others) >= MAX_LINKS:
        raise Invalid(f"A release can have {MAX_LINKS} links at most")
    _validate(row, [_columns(other) for other in others])
    return row


def edit_link(db: Connection, release: Release, link: ReleaseLink, params: EditLink) -> ReleaseLink:
    """Update the given fields of a link."""
    changes = given_fields(params, "direct_asset_path")
    if params.direct_asset_path is not UNSET:
        changes["filepath"] = params.direct_asset_path
    if "filepath" in changes:
        changes["filepath"] = changes["filepath"] or None
    others = [_columns(other) for other in links_of_release(db, release) if other.id != link.id]
    _validate({**_columns(link), **changes}, others)
    db.update(release_links, link.id, **changes)
    return find_link(db, release, link.id)


def delete_link(db: Connection, link: ReleaseLink) -> None:
    """Delete a link."""
    db.delete(release_links, link.id)


def _columns(link: ReleaseLink) -> dict[str, Any]:
    return {name: getattr(link, name) for name in _UNIQUE}


def _validate(row: dict[str, Any], others: Sequence[dict[str, Any]]) -> None:
    """Raise Invalid if a link is not valid or not unique; pages show its URL, so only safe schemes are allowed."""
    errors: dict[str, list[str]] = {}
    if not row["name"].strip():
        errors["name"] = ["can't be blank"]
    elif len(row["name"]) > MAX_LENGTH:
        errors["name"] = [too_long_message(MAX_LENGTH)]
    if len(row["url"]) > MAX_URL_LENGTH:
        errors["url"] = [too_long_message(MAX_URL_LENGTH)]
    elif not _is_url(row["url"]):
        errors["url"] = ["is blocked: Only allowed schemes are http, https, ftp"]
    path = row["filepath"]
    if path is not None and len(path) > MAX_PATH_LENGTH:
        errors["filepath"] = [too_long_message(MAX_PATH_LENGTH)]
    elif path is not None and (not _PATH.fullmatch(path) or ".." in path):
        errors["filepath"] = ["is in an invalid format"]
    for name in _UNIQUE:
        if row[name] is not None and any(row[name] == other[name] for other in others):
            errors.setdefault(name, ["has already been taken"])
    if errors:
        raise Invalid(**errors)


def _is_url(url: str) -> bool:
    if not _URL.fullmatch(url):
        return False
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False
