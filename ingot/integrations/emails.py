"""Texts of emails about pushes."""

from typing import NamedTuple

from ingot.git.diffs.diffs import Diff, FileDiff
from ingot.git.history.commits import decode_text
from ingot.webhooks.payloads.parts import Payload

MAX_SUBJECT_LENGTH = 200
MAX_TEXT_LENGTH = 128 * 1024


class PushMailText(NamedTuple):
    """Subject and text of an email."""

    subject: str
    text: str


def push_mail_text(payload: Payload, diff: Diff | None) -> PushMailText:
    """Return the email about a changed branch or tag."""
    kind = "tag" if payload["object_kind"] == "tag_push" else "branch"
    name = payload["ref"].split("/", 2)[2]
    summary = _subject_line(payload, kind, name)
    subject = f"[Git][{payload['project']['path_with_namespace']}][{name}] {summary}"
    user = f"{payload['user_name']} (@{payload['user_username']})" if payload["user_id"] else "Someone"
    parts = [_first_paragraph(payload, user, kind, name), _commit_list(payload), _diff_text(diff)]
    text = "\n\n".join(part for part in parts if part)
    return PushMailText(_header_safe(subject)[:MAX_SUBJECT_LENGTH], text[:MAX_TEXT_LENGTH] + "\n")


def _subject_line(payload: Payload, kind: str, name: str) -> str:
    if not payload["after"].strip("0"):
        return f"Deleted {kind} {name}"
    if not payload["before"].strip("0"):
        return f"Pushed new {kind} {name}"
    commits, count = payload["commits"], payload["total_commits_count"]
    if not commits:
        return f"Pushed to {kind} {name}"
    return commits[-1]["title"] if count == 1 else f"{count} commits: {commits[0]['title']}"


def _first_paragraph(payload: Payload, user: str, kind: str, name: str) -> str:
    web_url, project_path = payload["project"]["web_url"], payload["project"]["path_with_namespace"]
    if not payload["after"].strip("0"):
        return f"{user} deleted {kind} {name} at {project_path}\n{web_url}"
    if not payload["before"].strip("0"):
        return f"{user} pushed new {kind} {name} at {project_path}\n{web_url}"
    return (
        f"{user} pushed to {kind} {name} at {project_path}\n{web_url}/compare/{payload['before']}...{payload['after']}"
    )


def _commit_list(payload: Payload) -> str:
    commits = payload["commits"]
    if not commits:
        return ""
    hidden = payload["total_commits_count"] - len(commits)
    heading = "Commits:" if hidden <= 0 else f"Commits ({hidden} more not shown):"
    return "\n\n".join([heading, *(_commit(commit) for commit in commits)])


def _commit(commit: Payload) -> str:
    author = commit["author"]
    message = "\n".join(f"    {line}" for line in commit["message"].strip().splitlines())
    return f"{commit['id'][:8]} by {author['name']} at {commit['timestamp']}\n{commit['url']}\n\n{message}"


def _diff_text(diff: Diff | None) -> str:
    if diff is None or not diff.changes:
        return ""
    names = [_file_name(change) for change in diff.changes]
    lines = [f"{len(names)}{' or more' if diff.overflow else ''} changed file(s):", *(f"- {name}" for name in names)]
    diffs = [
        f"{name}\n{'=' * 40}\n{change.diff}" for name, change in zip(names, diff.changes, strict=True) if change.diff
    ]
    return "\n\n".join(["\n".join(lines), *diffs])


def _file_name(change: FileDiff) -> str:
    old, new = decode_text(change.old_path), decode_text(change.new_path)
    if change.renamed_file:
        return f"{old} → {new}"
    suffix = " (new)" if change.new_file else " (deleted)" if change.deleted_file else ""
    return f"{new}{suffix}"


def _header_safe(text: str) -> str:
    """Return a text without control characters and line breaks, as header values require."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
