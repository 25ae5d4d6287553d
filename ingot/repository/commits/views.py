"""How commits are shown."""

import re
from datetime import UTC, datetime, timedelta, timezone

from ingot.api.views import View
from ingot.git.commits import Commit, Signature

_LONGEST_TITLE = 100
_CUT_TITLE = 80
_SHORT = 8
_LAST_WORD = re.compile(r"\s+\S*\Z")


class CommitView(View):
    """A commit as lists show it."""

    id: str
    short_id: str
    title: str
    created_at: str
    parent_ids: list[str]
    message: str
    author_name: str
    author_email: str
    authored_date: str
    committer_name: str
    committer_email: str
    committed_date: str
    web_url: str


def commit_view(commit: Commit, project_url: str) -> CommitView:
    """One commit; ``project_url`` is where the project's pages are."""
    committed = shown_time(commit.committer)
    return CommitView(
        id=commit.oid,
        short_id=commit.oid[:_SHORT],
        title=shown_title(commit),
        created_at=committed,
        parent_ids=list(commit.parents),
        message=commit.message,
        author_name=commit.author.name,
        author_email=commit.author.email,
        authored_date=shown_time(commit.author),
        committer_name=commit.committer.name,
        committer_email=commit.committer.email,
        committed_date=committed,
        web_url=f"{project_url}/-/commit/{commit.oid}",
    )


def shown_title(commit: Commit) -> str:
    """The title, cut at a word where it is too long for one."""
    title = commit.title
    if len(title) < _LONGEST_TITLE:
        return title or "--no commit message"
    cut = title[:_CUT_TITLE]
    return (_LAST_WORD.sub("", cut) or cut) + "…"


def shown_time(signature: Signature) -> str:
    """When, in the zone of whoever did it; a time beyond what a calendar holds is shown as its beginning."""
    try:
        zone = timezone(timedelta(minutes=signature.offset))
        moment = datetime.fromtimestamp(signature.time, zone)
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="milliseconds")
