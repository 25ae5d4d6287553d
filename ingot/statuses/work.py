"""Posting statuses: what git has to say first, then one transaction."""

import re
from typing import Any
from urllib.parse import urlsplit

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import Invalid, NotFound, too_long
from ingot.git.commits import branch_tip, commit_id, decoded, tag_tip
from ingot.git.history import refs_containing
from ingot.git.kept_commits import keep_commit
from ingot.git.names import MOST_BYTES
from ingot.git.refs import HEADS
from ingot.repository.pipelines.service import Report, report_status
from ingot.repository.place import Place
from ingot.statuses.params import PostStatus
from ingot.statuses.queries import find_status
from ingot.statuses.views import CommitStatusView, status_views

MOST_CHARACTERS = 255
DEFAULT_NAME = "default"
_WEB = re.compile(r"https?://[^\s\x00-\x20\x7f\"<>\\^`{|}]+", re.IGNORECASE)


def post_status(
    database: Database, actor: Actor, place: Place, commit: str, wanted: PostStatus, base: str
) -> CommitStatusView:
    """Say something of the commit that an id, a branch or a tag leads to."""
    given = {"target_url": wanted.target_url, "description": wanted.description, "coverage": wanted.coverage}
    details = {name: value for name, value in given.items() if value not in (None, "")}
    name = next((each for each in (wanted.name, wanted.context) if each is not None), DEFAULT_NAME)
    _validate(name, wanted.ref, details)
    oid = commit_id(place.repository, commit)
    if oid is None:
        raise NotFound("Commit")
    ref = wanted.ref or (None if wanted.pipeline_id is not None else _ref_of(place, oid))
    tag = ref is not None and branch_tip(place.repository, ref) is None and tag_tip(place.repository, ref) is not None
    report = Report(oid, ref, tag, wanted.pipeline_id, name, wanted.state, details)
    # Kept even where the report is then refused, which harms nobody; the other way round it could be lost.
    keep_commit(place.repository, oid)

    def write(db: Connection) -> CommitStatusView:
        status_id = report_status(db, actor, place.project.id, report)
        return status_views(db, [find_status(db, status_id)], base)[0]

    return database.write(write)


def _ref_of(place: Place, oid: str) -> str:
    """The first of the branches that lead to a commit."""
    branches = refs_containing(place.repository, oid, HEADS, place.project.generation)
    if not branches:
        raise NotFound("References for commit")
    return decoded(branches[0].removeprefix(HEADS))


def _validate(name: str, ref: str | None, details: dict[str, Any]) -> None:
    errors: dict[str, list[str]] = {}
    if not name.strip():
        errors["name"] = ["can't be blank"]
    for field, value, most in (
        ("name", name, MOST_CHARACTERS),
        ("ref", ref or "", MOST_BYTES),
        ("target_url", details.get("target_url", ""), MOST_CHARACTERS),
        ("description", details.get("description", ""), MOST_CHARACTERS),
    ):
        if len(value) > most:
            errors[field] = [too_long(most)]
    if "target_url" in details and "target_url" not in errors and not _is_web_url(details["target_url"]):
        errors["target_url"] = ["must be a valid URL"]
    if errors:
        raise Invalid(**errors)


def _is_web_url(url: str) -> bool:
    """Whether pages may show it as a link."""
    if not _WEB.fullmatch(url):
        return False
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False
