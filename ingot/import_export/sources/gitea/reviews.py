"""Reviews of Gitea's pull requests as approvals, notes and discussions on lines."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.import_export.sources.gitea.shapes import GiteaPullRequest, GiteaReview, GiteaReviewComment
from ingot.import_export.sources.gitea.users import user_record
from ingot.import_export.sources.github.reviews import HunkLine, last_line
from ingot.import_export.work_item_records import ApprovalRecord, DiscussionRecord, NoteRecord, PositionRecord

_TEXTS = {"APPROVED": "approved this merge request", "REQUEST_CHANGES": "requested changes"}


class ReviewParts(NamedTuple):
    """Records that the reviews of a pull request yield."""

    discussions: list[DiscussionRecord]
    approvals: list[ApprovalRecord]


def review_parts(
    pull: GiteaPullRequest, reviews: Sequence[GiteaReview], comments: Sequence[GiteaReviewComment]
) -> ReviewParts:
    """Convert the reviews and their comments on lines."""
    parts = ReviewParts([], [])
    approvals: dict[str, ApprovalRecord] = {}
    for review in reviews:
        if review.state in ("PENDING", "REQUEST_REVIEW"):
            continue
        author, time = user_record(review.user), review.submitted_at or pull.updated_at
        for key, text, system in (
            (f"review:{review.id}", review.body, False),
            (f"review:{review.id}:system", _TEXTS.get(review.state, ""), True),
        ):
            if text:
                note = NoteRecord(key=key, author=author, body=text, created_at=time, updated_at=time, system=system)
                parts.discussions.append(DiscussionRecord(key=key, notes=[note], individual_note=True))
        if review.state == "APPROVED" and not review.dismissed:
            approvals[author.key] = ApprovalRecord(user=author, created_at=time)
        elif review.state == "REQUEST_CHANGES":
            approvals.pop(author.key, None)
    parts.discussions.extend(_threads(pull, comments))
    parts.approvals.extend(approvals.values())
    return parts


def _threads(pull: GiteaPullRequest, comments: Sequence[GiteaReviewComment]) -> list[DiscussionRecord]:
    """Group comments on one line into a discussion, as Gitea shows them."""
    threads: dict[tuple[str, int, int], list[GiteaReviewComment]] = {}
    for comment in sorted(comments, key=lambda each: each.id):
        threads.setdefault((comment.path, comment.position, comment.original_position), []).append(comment)
    return [
        DiscussionRecord(key=f"code:{thread[0].id}", notes=[_note(pull, comment, thread) for comment in thread])
        for thread in threads.values()
    ]


def _note(pull: GiteaPullRequest, comment: GiteaReviewComment, thread: Sequence[GiteaReviewComment]) -> NoteRecord:
    resolver = next((each.resolver for each in thread if each.resolver is not None), None)
    return NoteRecord(
        key=f"code:{comment.id}",
        author=user_record(comment.user),
        body=comment.body,
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        resolvable=True,
        resolved=resolver is not None,
        resolved_by=None if resolver is None else user_record(resolver),
        resolved_at=None if resolver is None else thread[-1].updated_at,
        position=_position(pull, thread[0]),
    )


def _position(pull: GiteaPullRequest, comment: GiteaReviewComment) -> PositionRecord | None:
    line = HunkLine(comment.original_position or None, comment.position or None)
    from_hunk = last_line(comment.diff_hunk)
    if from_hunk is not None and (
        (line.new is not None and from_hunk.new == line.new) or (line.old is not None and from_hunk.old == line.old)
    ):
        line = from_hunk  # An unchanged line has two numbers, of which the API names one.
    base = pull.merge_base or pull.base.sha
    head = comment.original_commit_id or comment.commit_id or pull.head.sha
    if line == HunkLine(None, None) or not (base and head):
        return None
    return PositionRecord(
        base_sha=base,
        start_sha=pull.base.sha or base,
        head_sha=head,
        old_path=comment.path,
        new_path=comment.path,
        old_line=line.old,
        new_line=line.new,
    )
