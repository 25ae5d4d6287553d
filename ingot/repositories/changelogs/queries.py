"""Release notes of a range of commits."""

import re
from typing import Any, NamedTuple

from ingot.accounts.users.commit_addresses import commit_user_or_none
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.db.times import Timestamp, to_datetime
from ingot.core.errors import Invalid, NotFound
from ingot.git.core.refs import TAGS, read_refs
from ingot.git.history.commits import Commit, commit_id_or_none, read_commits
from ingot.git.history.log import commits_between
from ingot.git.history.trailers import message_trailers
from ingot.repositories.changelogs.configuration import ChangelogConfig, read_config
from ingot.repositories.changelogs.params import AddChangelog, GetChangelog
from ingot.repositories.changelogs.template import render_template
from ingot.repositories.changelogs.versions import previous_tag, require_version
from ingot.repositories.commits.ports import CommitMergeRequests
from ingot.repositories.context import RepositoryContext

MAX_COMMITS = 20_000
_REVERTED = re.compile(r"^This reverts commit ([0-9a-f]{40})", re.MULTILINE)


class ReleaseNotes(NamedTuple):
    """Text of release notes, and the commit at which the range ends."""

    text: str
    tip: str


def release_notes(
    db: Connection, actor: Actor, base: str, context: RepositoryContext, params: GetChangelog | AddChangelog
) -> ReleaseNotes:
    """Return the release notes of a version; raise Invalid if the range of commits is not known."""
    version = require_version(params.version)
    repository, default = context.repository, context.project.default_branch
    tip = _find_commit(context, params.to or default)
    config = read_config(repository, _find_commit(context, params.config_file_ref or default), params.config_file)
    start = params.from_ref
    if start is None:
        tags = [name.removeprefix(TAGS).decode(errors="replace") for name in read_refs(repository.path, (TAGS,))]
        start = previous_tag(tags, version, config.tag_regex)
        if start is None:
            raise Invalid(
                "The range of commits has no start: give one, because there is no tag of a version before this one"
            )
    oids = commits_between(repository, _find_commit(context, start), tip, MAX_COMMITS)
    chosen = _with_trailer(read_commits(repository, oids), params.trailer)
    categories = _categories(db, actor, base, context, config, chosen)
    date = params.date or db.now[:10]
    shown = to_datetime(Timestamp(f"{date}T00:00:00.000Z")).strftime(config.date_format)
    body = render_template(config.template, {"categories": categories})
    tidy = re.sub(r"\n{3,}", "\n\n", body).strip("\n")
    return ReleaseNotes(f"## {params.version.removeprefix('v')} ({shown})\n\n{tidy}\n", tip)


def _find_commit(context: RepositoryContext, name: str) -> str:
    oid = commit_id_or_none(context.repository, name)
    if oid is None:
        raise NotFound("Commit")
    return oid


def _with_trailer(commits: list[Commit], trailer: str) -> list[tuple[Commit, str]]:
    """Return the commits with the trailer and its value, newest first; reverted commits and reverts are left out."""
    reverted = {match for commit in commits for match in _REVERTED.findall(commit.message)}
    chosen = []
    for commit in reversed(commits):
        names = {name.lower(): values for name, values in message_trailers(commit.message).items()}
        values = names.get(trailer.lower())
        if values and commit.oid not in reverted and not _REVERTED.search(commit.message):
            chosen.append((commit, values[-1]))
    return chosen


def _categories(
    db: Connection,
    actor: Actor,
    base: str,
    context: RepositoryContext,
    config: ChangelogConfig,
    chosen: list[tuple[Commit, str]],
) -> list[dict[str, Any]]:
    """Return the entries by category, in the order of the configuration."""
    entries: dict[str, list[dict[str, Any]]] = {title: [] for title in config.categories.values()}
    for commit, value in chosen:
        entries.setdefault(config.categories.get(value, value), []).append(_entry(db, actor, base, context, commit))
    return [
        {"title": title, "count": len(items), "single_change": len(items) == 1, "entries": items}
        for title, items in entries.items()
        if items
    ]


def _entry(db: Connection, actor: Actor, base: str, context: RepositoryContext, commit: Commit) -> dict[str, Any]:
    path = context.project.full_path
    author = commit_user_or_none(db, commit.author.email)
    brought = db.ports[CommitMergeRequests].list_introducing(
        db, actor, context.project.id, commit.oid, base, Page(size=1)
    )
    merge_request = next(iter(brought.items), None)
    return {
        "title": commit.title,
        "commit": {
            "reference": f"{path}@{commit.oid}",
            "trailers": {name: values[-1] for name, values in message_trailers(commit.message).items()},
        },
        "author": {"reference": f"@{author.username}", "credit": True} if author is not None else None,
        "merge_request": ({"reference": f"{path}!{merge_request.iid}"} if merge_request is not None else None),
    }
