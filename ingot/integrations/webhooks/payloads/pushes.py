"""What a push tells: once for each branch and tag, and once as a whole."""

from collections.abc import Sequence

from ingot.accounts.users.tables import User
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import NamedRef
from ingot.git.diffs.changed_files import PathChange, changed_files_by_commit
from ingot.git.history.commits import Commit, commit_id_or_none, commit_or_none, decode_text, read_commits
from ingot.git.history.log import CommitFilter, commits_between, count_between, list_commits
from ingot.git.history.tags import read_tags
from ingot.git.writing.ref_updates import RefUpdate
from ingot.integrations.webhooks.payloads.parts import Payload, commit_part, project_part, pusher_part, repository_part
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import InstanceUrls

MAX_COMMITS = 20
MAX_FILES = 1000
"""Of each commit; a receiver that needs all asks for them."""


def push_payload(update: RefUpdate, project: Project, user: User | None, urls: InstanceUrls) -> Payload:
    """A branch or tag that changed; what only git knows is left for ``complete_push``."""
    kind = "push" if update.tag is None else "tag_push"
    shown = project_part(project, urls)
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
        "project": shown,
        "commits": [],
        "total_commits_count": 0,
        "repository": repository_part(shown, whole=True),
    }


def system_tag_payload(payload: Payload) -> Payload:
    """What system hooks are told of a tag: never its commits."""
    return {**payload, "message": ""}


def update_payload(updates: Sequence[RefUpdate], project: Project, user: User | None, urls: InstanceUrls) -> Payload:
    """A push as a whole, for system hooks."""
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
    """Put in what git knows: the commits that came, or what a tag says.

    ``base`` is where the default branch was at that moment: what it led to is no news on a new branch. Without one,
    all that a new branch leads to is new.
    """
    update = RefUpdate(payload["ref"], payload["before"], payload["after"])
    if update.deletes:
        return payload
    if update.tag is not None:
        return _complete_tag(payload, repository, update, commits=commits)
    shown, total = _commits_of(repository, update, base)
    return {**payload, "commits": _parts(repository, shown, payload), "total_commits_count": total}


def _complete_tag(payload: Payload, repository: Repository, update: RefUpdate, *, commits: bool) -> Payload:
    (tag,) = read_tags(repository, [NamedRef((update.tag or "").encode(), update.new)])
    target = commit_id_or_none(repository, update.new)
    commit = commit_or_none(repository, target) if target else None
    told = {"checkout_sha": target}
    if not commits:
        return {**payload, **told}
    shown = [commit] if commit else []
    return {
        **payload,
        **told,
        "message": tag.message,
        "commits": _parts(repository, shown, payload),
        "total_commits_count": len(shown),
    }


def _commits_of(repository: Repository, update: RefUpdate, base: str | None) -> tuple[list[Commit], int]:
    """The newest commits that came, oldest first, and how many there are."""
    since = base if update.creates else update.old
    if since is None:
        found, total = list_commits(repository, [update.new], CommitFilter(), 0, MAX_COMMITS)
        return read_commits(repository, found)[::-1], total
    found = commits_between(repository, since, update.new, MAX_COMMITS)
    total = len(found) if len(found) < MAX_COMMITS else count_between(repository, since, update.new)
    return read_commits(repository, found), total


def _parts(repository: Repository, commits: Sequence[Commit], payload: Payload) -> list[Payload]:
    files = changed_files_by_commit(repository, commits) if commits else {}
    web_url = payload["project"]["web_url"]
    return [{**commit_part(commit, web_url), **_changed(files[commit.oid])} for commit in commits]


def _changed(files: Sequence[PathChange]) -> Payload:
    return {
        how: [decode_text(file.path) for file in files if file.how == how][:MAX_FILES]
        for how in ("added", "modified", "removed")
    }
