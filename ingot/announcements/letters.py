"""What a mail about a push says."""

from typing import NamedTuple

from ingot.git.commits import decoded
from ingot.git.diffs import Change, Diff
from ingot.hooks.payloads.parts import Payload

LONGEST_SUBJECT = 200
LONGEST_TEXT = 128 * 1024


class Letter(NamedTuple):
    """A mail without a recipient."""

    subject: str
    text: str


def letter_about(told: Payload, diff: Diff | None) -> Letter:
    """The mail about one branch or tag that changed."""
    kind = "tag" if told["object_kind"] == "tag_push" else "branch"
    name = told["ref"].split("/", 2)[2]
    what = _what(told, kind, name)
    subject = f"[Git][{told['project']['path_with_namespace']}][{name}] {what}"
    who = f"{told['user_name']} (@{told['user_username']})" if told["user_id"] else "Somebody"
    parts = [_opening(told, who, kind, name), _commits(told), _changes(diff)]
    text = "\n\n".join(part for part in parts if part)
    return Letter(_line(subject)[:LONGEST_SUBJECT], text[:LONGEST_TEXT] + "\n")


def _what(told: Payload, kind: str, name: str) -> str:
    if not told["after"].strip("0"):
        return f"Deleted {kind} {name}"
    if not told["before"].strip("0"):
        return f"Pushed new {kind} {name}"
    commits, count = told["commits"], told["total_commits_count"]
    if not commits:
        return f"Pushed to {kind} {name}"
    return commits[-1]["title"] if count == 1 else f"{count} commits: {commits[0]['title']}"


def _opening(told: Payload, who: str, kind: str, name: str) -> str:
    web_url, where = told["project"]["web_url"], told["project"]["path_with_namespace"]
    if not told["after"].strip("0"):
        return f"{who} deleted {kind} {name} at {where}\n{web_url}"
    if not told["before"].strip("0"):
        return f"{who} pushed new {kind} {name} at {where}\n{web_url}"
    return f"{who} pushed to {kind} {name} at {where}\n{web_url}/compare/{told['before']}...{told['after']}"


def _commits(told: Payload) -> str:
    commits = told["commits"]
    if not commits:
        return ""
    more = told["total_commits_count"] - len(commits)
    heading = "Commits:" if more <= 0 else f"Commits ({more} more are not shown):"
    return "\n\n".join([heading, *(_commit(commit) for commit in commits)])


def _commit(commit: Payload) -> str:
    author = commit["author"]
    message = "\n".join(f"    {line}" for line in commit["message"].strip().splitlines())
    return f"{commit['id'][:8]} by {author['name']} at {commit['timestamp']}\n{commit['url']}\n\n{message}"


def _changes(diff: Diff | None) -> str:
    if diff is None or not diff.changes:
        return ""
    names = [_name(change) for change in diff.changes]
    lines = [f"{len(names)}{' or more' if diff.overflow else ''} changed file(s):", *(f"- {name}" for name in names)]
    shown = [
        f"{name}\n{'=' * 40}\n{change.diff}" for name, change in zip(names, diff.changes, strict=True) if change.diff
    ]
    return "\n\n".join(["\n".join(lines), *shown])


def _name(change: Change) -> str:
    old, new = decoded(change.old_path), decoded(change.new_path)
    if change.renamed_file:
        return f"{old} → {new}"
    how = " (new)" if change.new_file else " (deleted)" if change.deleted_file else ""
    return f"{new}{how}"


def _line(text: str) -> str:
    """A text as a header can hold it."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
