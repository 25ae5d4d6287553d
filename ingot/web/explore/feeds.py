"""Atom feeds: activity of projects, groups and users, issues and commits."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple
from urllib.parse import quote

import msgspec
from markupsafe import escape

from ingot.accounts.tokens.feed_tokens import feed_token, user_by_feed_token_or_none
from ingot.accounts.users.views import UserView, profile_or_none
from ingot.activity import api as activity_api
from ingot.activity.views import EventView, newest_events
from ingot.collaboration.issues import api as issues_api
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.projects.projects.views import instance_urls_at
from ingot.repositories.commits.views import CommitView
from ingot.web.explore.event_lines import activity_lines
from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.page_routes import BytesResponse, PageResponse, PageRoutes, Viewer, Visit, session_actor
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.request_auth import token_visit

pages = PageRoutes()
_ENDING = ".atom"
_ENTRIES = 20
_MAX_TEXT_LENGTH = 5_000
_TYPE = "application/atom+xml; charset=utf-8"
_NO_STORE = (b"cache-control", b"private, no-store")
# XML 1.0 cannot contain these, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class FeedEntry(NamedTuple):
    """Entry of a feed; ``path`` is the address of its page on this server."""

    path: str
    title: str
    updated_at: str
    author: str
    text: str = ""


@pages.get("/:path/-/activity.atom", open=True)
def project_feed(visit: Visit) -> PageResponse:
    """Return the newest events of a project."""
    return project_activity_feed(feed_visit(visit))


@pages.get("/:path/-/issues.atom", open=True)
def issue_feed(visit: Visit) -> PageResponse:
    """Return the newest issues of a project."""
    parent = project_context(feed_visit(visit))
    return _issue_feed(parent, parent.project.name_with_namespace)


@pages.get("/groups/:path/-/issues.atom", open=True)
def group_issue_feed(visit: Visit) -> PageResponse:
    """Return the newest issues of the projects of a group."""
    parent = group_context(feed_visit(visit))
    return _issue_feed(parent, parent.group.full_name)


def _issue_feed(parent: ProjectOrGroupContext, name: str) -> PageResponse:
    endpoint = parent.either(issues_api.list_project_issues, issues_api.list_group_issues)
    issues = parent.ask(endpoint, {"per_page": str(_ENTRIES), "order_by": "created_at"})
    entries = [
        FeedEntry(
            issue.web_url.removeprefix(parent.visit.request.origin.base),
            issue.title,
            issue.updated_at,
            issue.author.name if issue.author else "",
            issue.description or "",
        )
        for issue in issues.items
    ]
    return _feed(parent.visit, f"{name}: issues", f"{parent.url}/-/issues", entries)


def is_feed_path(visit: Visit) -> bool:
    """Return whether the path has the ending of feeds, which no project, group or user has."""
    return visit.request.path["path"].endswith(_ENDING)


def feed_visit_at_path(visit: Visit) -> Visit:
    """Return the visit of a feed with the path of its project, group or user."""
    path = {**visit.request.path, "path": visit.request.path["path"].removesuffix(_ENDING)}
    return feed_visit(msgspec.structs.replace(visit, request=msgspec.structs.replace(visit.request, path=path)))


def group_activity_feed(visit: Visit) -> PageResponse:
    """Return the newest events of the group at the path of the visit that the reader may see."""
    parent = group_context(visit)
    entries = _event_entries(visit, _newest_events(visit, "group", parent.group.id))
    return _feed(visit, f"{parent.group.full_name}: activity", parent.url, entries)


def project_activity_feed(visit: Visit) -> PageResponse:
    """Return the newest events of the project at the path of the visit."""
    parent = project_context(visit)
    events = parent.ask(activity_api.list_project_events, {"per_page": str(_ENTRIES)}).items
    title = f"{parent.project.name_with_namespace}: activity"
    return _feed(visit, title, f"{parent.url}/-/activity", _event_entries(visit, events))


def user_activity_feed(visit: Visit, shown_user: UserView) -> PageResponse:
    """Return the newest events of a user that the reader may see; raise NotFound if the profile is private."""
    if visit.database.read(lambda db: profile_or_none(db, visit.viewer.actor, shown_user.id)) is None:
        raise NotFound("User")
    entries = _event_entries(visit, _newest_events(visit, "author", shown_user.id))
    return _feed(visit, f"{shown_user.name}: activity", f"/{shown_user.username}", entries)


def _newest_events(visit: Visit, whose: Literal["author", "group"], number: int) -> list[EventView]:
    actor, urls = visit.viewer.actor, instance_urls_at(visit.request.origin.base, visit.settings)
    return visit.database.read(lambda db: newest_events(db, actor, whose, number, _ENTRIES, urls))


def commit_feed(parent: ProjectContext, ref: str, commits: Sequence[CommitView]) -> PageResponse:
    """Return the newest commits of a branch."""
    entries = [
        FeedEntry(
            f"{parent.url}/-/commit/{commit.id}",
            commit.title,
            commit.committed_date,
            commit.author_name,
            commit.message,
        )
        for commit in commits[:_ENTRIES]
    ]
    title = f"{parent.project.name_with_namespace}: commits of {ref}"
    return _feed(parent.visit, title, f"{parent.url}/-/commits/{quote(ref)}", entries)


def feed_visit(visit: Visit) -> Visit:
    """Return the visit as the user of its feed or access token, without a session; the same visit without a token."""
    token = visit.request.query.get("feed_token") or visit.request.query.get("rss_token")
    if not isinstance(token, str):
        return token_visit(visit)
    user = visit.database.read(lambda db: user_by_feed_token_or_none(db, token))
    actor = session_actor(user)
    client = visit.client._replace(caller=visit.client.caller._replace(actor=actor))
    return msgspec.structs.replace(visit, client=client, viewer=Viewer(actor, user, None, ""))


def feed_address(visit: Visit, path: str) -> str:
    """Return the address of a feed for the reader of a page, with the feed token of a signed-in user."""
    user = visit.viewer.user
    token = visit.database.read(lambda db: feed_token(db, user.id)) if user is not None else ""
    if not token:
        return path
    return f"{path}{'&' if '?' in path else '?'}feed_token={token}"


def _event_entries(visit: Visit, events: Sequence[EventView]) -> list[FeedEntry]:
    return [
        FeedEntry(
            line.address,
            f"{line.event.author.name} {line.text}" + (f" ({line.project})" if line.project else ""),
            line.event.created_at,
            line.event.author.name,
        )
        for line in activity_lines(visit, events)
    ]


def _feed(visit: Visit, title: str, path: str, entries: list[FeedEntry]) -> BytesResponse:
    base = visit.request.origin.base
    newest = max((entry.updated_at for entry in entries), default=Timestamp("1970-01-01T00:00:00.000Z"))
    own = f"{base}{visit.request.address.partition('?')[0]}"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{_text(title)}</title>",
        f"<id>{_text(base + path)}</id>",
        f'<link rel="self" type="application/atom+xml" href={_attribute(own)}/>',
        f'<link rel="alternate" type="text/html" href={_attribute(base + path)}/>',
        f"<updated>{_text(newest)}</updated>",
        *(_entry(entry, base, index) for index, entry in enumerate(entries)),
        "</feed>",
    ]
    return BytesResponse("\n".join(lines).encode("utf-8", "replace"), _TYPE, [_NO_STORE])


def _entry(entry: FeedEntry, base: str, index: int) -> str:
    url = base + entry.path
    summary = f"<summary>{_text(entry.text[:_MAX_TEXT_LENGTH])}</summary>" if entry.text else ""
    # Several events may concern one page, so its address alone would not be unique.
    number = f"{url}#{entry.updated_at}-{index}"
    return (
        f"<entry><id>{_text(number)}</id><title>{_text(entry.title)}</title><link href={_attribute(url)}/>"
        f"<updated>{_text(entry.updated_at)}</updated><author><name>{_text(entry.author)}</name></author>{summary}</entry>"
    )


def _text(text: str) -> str:
    return str(escape(_FORBIDDEN.sub("", text)))


def _attribute(text: str) -> str:
    return f'"{escape(_FORBIDDEN.sub("", text))}"'
