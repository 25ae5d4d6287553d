"""Posting of statuses: git lookups first, then one transaction."""

import re
from typing import Any
from urllib.parse import urlsplit

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Invalid, NotFound, too_long_message
from ingot.git.core.names import MAX_BYTES
from ingot.git.core.refs import HEADS
from ingot.git.history.commits import branch_tip, commit_id_or_none, decode_text, tag_tip
from ingot.git.history.log import refs_containing
from ingot.git.writing.pinned_commits import pin_commits
from ingot.repositories.commit_statuses.params import PostStatus
from ingot.repositories.commit_statuses.queries import find_status
from ingot.repositories.commit_statuses.service import StatusReport, report_status
from ingot.repositories.commit_statuses.views import CommitStatusView, status_views
from ingot.repositories.context import RepositoryContext

MAX_LENGTH = 255
DEFAULT_NAME = "default"
_WEB_URL = re.compile(r"https?://[^\s\x00-\x20\x7f\"<>\\^`{|}]+", re.IGNORECASE)


def post_status(
    database: Database, actor: Actor, context: RepositoryContext, commit: str, params: PostStatus, base: str
) -> CommitStatusView:
    """Report a status of a commit, given by its id, branch or tag."""
    given = {"target_url": params.target_url, "description": params.description, "coverage": params.coverage}
    details = {name: value for name, value in given.items() if value not in (None, "")}
    name = next((each for each in (params.name, params.context) if each is not None), DEFAULT_NAME)
    _validate(name, params.ref, details)
    oid = commit_id_or_none(context.repository, commit)
    if oid is None:
        raise NotFound("Commit")
    ref = params.ref or (None if params.pipeline_id is not None else _first_branch_with(context, oid))
    tag = (
        ref is not None and branch_tip(context.repository, ref) is None and tag_tip(context.repository, ref) is not None
    )
    report = StatusReport(oid, ref, tag, params.pipeline_id, name, params.state, details)
    # Pinned first: a commit pinned for a refused report is harmless, but an unpinned one could be garbage-collected.
    pin_commits(context.repository, [oid])

    def write(db: Connection) -> CommitStatusView:
        status_id = report_status(db, actor, context.access, context.project.id, report)
        return status_views(db, [find_status(db, status_id)], base)[0]

    return database.write(write)


def _first_branch_with(context: RepositoryContext, oid: str) -> str:
    """Return the first branch that contains a commit; raise NotFound otherwise."""
    branches = refs_containing(context.repository, oid, HEADS, context.project.generation)
    if not branches:
        raise NotFound("References for commit")
    return decode_text(branches[0].removeprefix(HEADS))


def _validate(name: str, ref: str | None, details: dict[str, Any]) -> None:
    errors: dict[str, list[str]] = {}
    if not name.strip():
        errors["name"] = ["can't be blank"]
    for field, value, limit in (
        ("name", name, MAX_LENGTH),
        ("ref", ref or "", MAX_BYTES),
        ("target_url", details.get("target_url", ""), MAX_LENGTH),
        ("description", details.get("description", ""), MAX_LENGTH),
    ):
        if len(value) > limit:
            errors[field] = [too_long_message(limit)]
    if "target_url" in details and "target_url" not in errors and not is_web_url(details["target_url"]):
        errors["target_url"] = ["must be a valid URL"]
    if errors:
        raise Invalid(**errors)


def is_web_url(url: str) -> bool:
    """Return whether pages may show the URL as a link."""
    if not _WEB_URL.fullmatch(url):
        return False
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False
