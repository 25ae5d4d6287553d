"""Payloads of pushes: one per branch and tag, and one for the whole push."""

from collections.abc import Sequence

from ingot.accounts.users.tables import User
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import NamedRef
from ingot.git.diffs.changed_files import PathChange, changed_files_by_commit
from ingot.git.history.commits import Commit, commit_id_or_none, commit_or_none, decode_text, read_commits
from ingot.git.history.log import CommitFilter, commits_between, count_between, list_commits
from ingot.git.history.tags import read_tags
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls
from ingot.webhooks.payloads.parts import Payload, commit_part, project_part, pusher_part, repository_part

MAX_COMMITS = 20
MAX_FILES = 1000
"""Limit per commit."""


def push_payload(update: RefUpdate, project: Project, user: User | None, urls: InstanceUrls) -> Payload:
    """Return the payload of a changed branch or tag; ``complete_push`` adds the data from git."""
    kind = "push" if update.tag is None else "tag_push"
    project_data = project_part(project, urls)
    return {
        "object_kind": kind,
        "event_name": kind,
        "before": update.old,
        "after": update.new,
        "ref": update.ref,
        "checkout_sha": None if update.deletes else update.new,
        "message": None,
        **pusher_part(user, urls),
        "project_id": project.id,
        "project": project_data,
        "commits": [],
        "total_commits_count": 0,
        "repository": repository_part(project_data, whole=True),
    }


def system_tag_payload(payload: Payload) -> Payload:
    """Return the payload of a tag for system hooks, which is sent without commits."""
    return {**payload, "message": ""}


def update_payload(updates: Sequence[RefUpdate], project: Project, user: User | None, urls: InstanceUrls) -> Payload:
    """Return the payload of a whole push, for system hooks."""
    pusher = pusher_part(user, urls)
    del pusher["user_username"]
    return {
        "event_name": "repository_update",
        **pusher,
        "project_id": project.id,
        "project": project_part(project, urls),
        "changes": [{"before": each.old, "after": each.new, "ref": each.ref} for each in updates],
        "refs": list(dict.fromkeys(each.ref for each in updates)),
    }


def complete_push(payload: Payload, repository: Repository, base: str | None, *, commits: bool) -> Payload:
    """Add the new commits of a branch or the message of a tag.

    ``base`` is the tip of the default branch at the time of the push: commits that it contains are not new on a new
    branch. Without it, all commits of a new branch count as new.
    """
    update = RefUpdate(payload["ref"], payload["before"], payload["after"])
    if update.deletes:
        return payload
    if update.tag is not None:
        return _complete_tag(payload, repository, update, commits=commits)
    new_commits, total = _commits_of(repository, update, base)
    return {**payload, "commits": _parts(repository, new_commits, payload), "total_commits_count": total}


def _complete_tag(payload: Payload, repository: Repository, update: RefUpdate, *, commits: bool) -> Payload:
    (tag,) = read_tags(repository, [NamedRef((update.tag or "").encode(), update.new)])
    target = commit_id_or_none(repository, update.new)
    commit = commit_or_none(repository, target) if target else None
    checkout = {"checkout_sha": target}
    if not commits:
        return {**payload, **checkout}
    tagged = [commit] if commit else []
    return {
        **payload,
        **checkout,
        "message": tag.message,
        "commits": _parts(repository, tagged, payload),
        "total_commits_count": len(tagged),
    }


def _commits_of(repository: Repository, update: RefUpdate, base: str | None) -> tuple[list[Commit], int]:
    """Return the newest commits of an update, oldest first, and their total number."""
    since = base if update.creates else update.old
    if since is None:
        oids, total = list_commits(repository, [update.new], CommitFilter(), 0, MAX_COMMITS)
        return read_commits(repository, oids)[::-1], total
    oids = commits_between(repository, since, update.new, MAX_COMMITS)
    total = len(oids) if len(oids) < MAX_COMMITS else count_between(repository, since, update.new)
    return read_commits(repository, oids), total


def _parts(repository: Repository, commits: Sequence[Commit], payload: Payload) -> list[Payload]:
    files = changed_files_by_commit(repository, commits) if commits else {}
    web_url = payload["project"]["web_url"]
    return [{**commit_part(commit, web_url), **_changed(files[commit.oid])} for commit in commits]


def _changed(files: Sequence[PathChange]) -> Payload:
    return {
        change: [decode_text(file.path) for file in files if file.how == change][:MAX_FILES]
        for change in ("added", "modified", "removed")
    }
