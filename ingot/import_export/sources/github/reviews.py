"""Review comments of GitHub's pull requests as discussions on lines."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingot.import_export.sources.github.shapes import GitHubReaction, GitHubReviewComment
from ingot.import_export.sources.github.timeline import award_records
from ingot.import_export.sources.github.users import GitHubUsers
from ingot.import_export.work_item_records import DiscussionRecord, NoteRecord, PositionRecord

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@")


class HunkLine(NamedTuple):
    """Numbers of a line before and after the change; an unchanged line has both."""

    old: int | None
    new: int | None


def last_line(hunk: str) -> HunkLine | None:
    """Return the last line of a hunk, which is the commented one; None if it is not a hunk."""
    head, *lines = hunk.split("\n")
    match = _HUNK.match(head)
    if match is None or not lines:
        return None
    old, new = int(match[1]), int(match[2])
    found = HunkLine(old, new)
    for line in lines:
        if line.startswith("\\"):
            continue  # "No newline at end of file" is not a line.
        if line.startswith("+"):
            found, new = HunkLine(None, new), new + 1
        elif line.startswith("-"):
            found, old = HunkLine(old, None), old + 1
        else:
            found, old, new = HunkLine(old, new), old + 1, new + 1
    return found


def review_discussions(
    users: GitHubUsers,
    comments: Sequence[GitHubReviewComment],
    reactions: Mapping[int, Sequence[GitHubReaction]],
    base_sha: str,
    old_paths: Mapping[str, str] | None = None,
) -> list[DiscussionRecord]:
    """Group comments into discussions: a reply names the first comment of its discussion."""
    threads: dict[int, list[GitHubReviewComment]] = {}
    for comment in sorted(comments, key=lambda each: each.id):
        threads.setdefault(comment.in_reply_to_id or comment.id, []).append(comment)
    return [
        DiscussionRecord(
            key=f"review:{first}",
            notes=[
                _note(users, comment, thread[0], reactions.get(comment.id, ()), base_sha, old_paths or {})
                for comment in thread
            ],
        )
        for first, thread in threads.items()
    ]


def _note(
    users: GitHubUsers,
    comment: GitHubReviewComment,
    first: GitHubReviewComment,
    reactions: Sequence[GitHubReaction],
    base_sha: str,
    old_paths: Mapping[str, str],
) -> NoteRecord:
    return NoteRecord(
        key=f"review:{comment.id}",
        author=users.record(comment.user),
        body=comment.body,
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        resolvable=True,
        position=_position(first, base_sha, old_paths),
        awards=award_records(users, reactions),
    )


def _position(comment: GitHubReviewComment, base_sha: str, old_paths: Mapping[str, str]) -> PositionRecord | None:
    """Return the position in the diff that the comment was written on; the hunk belongs to that diff."""
    head = comment.original_commit_id or comment.commit_id
    line = last_line(comment.diff_hunk)
    if line is None and comment.original_line is not None:
        left = comment.side == "LEFT"
        line = HunkLine(comment.original_line, None) if left else HunkLine(None, comment.original_line)
    if not head:
        return None
    on_file = comment.subject_type == "file" or line is None
    return PositionRecord(
        base_sha=base_sha,
        start_sha=base_sha,
        head_sha=head,
        old_path=old_paths.get(comment.path, comment.path),
        new_path=comment.path,
        position_type="file" if on_file else "text",
        old_line=None if on_file or line is None else line.old,
        new_line=None if on_file or line is None else line.new,
    )
