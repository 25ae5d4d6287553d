"""Timeline and comments of an issue or pull request of Gitea as discussions, system notes and events."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingot.import_export.sources.gitea.attachments import with_attachments
from ingot.import_export.sources.gitea.shapes import GiteaComment, GiteaEvent, GiteaReaction, GiteaReference
from ingot.import_export.sources.gitea.users import user_record
from ingot.import_export.work_item_records import (
    AwardRecord,
    DiscussionRecord,
    LabelEventRecord,
    MilestoneEventRecord,
    NoteRecord,
    StateEventRecord,
)

_EMOJI = {"+1": "thumbsup", "-1": "thumbsdown", "laugh": "laughing", "hooray": "tada"}
_TEXTS = {
    "reopen": "reopened",
    "close": "closed",
    "merge_pull": "merged",
    "lock": "locked the discussion",
    "unlock": "unlocked the discussion",
    "delete_branch": "deleted the source branch",
    "pin": "pinned this issue",
    "unpin": "unpinned this issue",
    "removed_deadline": "removed due date",
    "cancel_tracking": "cancelled time tracking",
    "dismiss_review": "dismissed a review",
    "pull_push": "pushed to the source branch",
}
_STATES = {"reopen": "reopened", "close": "closed", "merge_pull": "merged"}


class GiteaTimelineParts(NamedTuple):
    """Records that one timeline yields."""

    discussions: list[DiscussionRecord]
    label_events: list[LabelEventRecord]
    milestone_events: list[MilestoneEventRecord]
    state_events: list[StateEventRecord]


def timeline_parts(
    events: Sequence[GiteaEvent],
    comments: Sequence[GiteaComment],
    reactions: Mapping[int, Sequence[GiteaReaction]],
) -> GiteaTimelineParts:
    """Convert a timeline; comments are requested separately, because the timeline omits their attachments."""
    parts = GiteaTimelineParts([], [], [], [])
    for comment in comments:
        note = NoteRecord(
            key=f"comment:{comment.id}",
            author=user_record(comment.user, comment.original_author),
            body=with_attachments(comment.body, comment.assets),
            created_at=comment.created_at,
            updated_at=comment.updated_at,
            awards=award_records(f"comment:{comment.id}", reactions.get(comment.id, ())),
        )
        parts.discussions.append(DiscussionRecord(key=note.key, notes=[note], individual_note=True))
    for event in events:
        _add_event(parts, event)
    parts.discussions.sort(key=lambda each: each.notes[0].created_at)
    return parts


def award_records(place: str, reactions: Sequence[GiteaReaction]) -> list[AwardRecord]:
    """Build the records of reactions, which have no id: a user gives each reaction once."""
    return [
        AwardRecord(
            key=f"{place}:{reaction.content}:{user.key}",
            name=_EMOJI.get(reaction.content, reaction.content),
            user=user,
            created_at=reaction.created_at,
        )
        for reaction in reactions
        for user in [user_record(reaction.user)]
    ]


def _add_event(parts: GiteaTimelineParts, event: GiteaEvent) -> None:
    user, key, time = user_record(event.user), f"event:{event.id}", event.created_at
    text = _text(event)
    if text is not None:
        note = NoteRecord(key=key, author=user, body=text, created_at=time, updated_at=time, system=True)
        parts.discussions.append(DiscussionRecord(key=key, notes=[note], individual_note=True))
    if event.type == "label" and event.label is not None:
        # The text of the entry is "1" for an addition.
        parts.label_events.append(
            LabelEventRecord(
                key=key,
                user=user,
                action="add" if event.body == "1" else "remove",
                label=event.label.name,
                created_at=time,
            )
        )
    elif event.type == "milestone":
        chosen = event.milestone or event.old_milestone
        if chosen is not None:
            parts.milestone_events.append(
                MilestoneEventRecord(
                    key=key,
                    user=user,
                    action="add" if event.milestone is not None else "remove",
                    milestone=str(chosen.id),
                    created_at=time,
                )
            )
    elif event.type in _STATES:
        parts.state_events.append(StateEventRecord(key=key, user=user, state=_STATES[event.type], created_at=time))


def _text(event: GiteaEvent) -> str | None:
    """Return the text of a system note in the form of our own ones, or None for entries that have none."""
    match event.type:
        case "label" if event.label is not None:
            return f'{"added" if event.body == "1" else "removed"} ~"{event.label.name}" label'
        case "milestone":
            return f'changed milestone to %"{event.milestone.title}"' if event.milestone else "removed milestone"
        case "assignees" if event.assignee is not None:
            return f"{'unassigned' if event.removed_assignee else 'assigned to'} @{event.assignee.login}"
        case "review_request" if event.assignee is not None:
            verb = "removed review request for" if event.removed_assignee else "requested review from"
            return f"{verb} @{event.assignee.login}"
        case "change_title":
            return f"changed title from **{event.old_title}** to **{event.new_title}**"
        case "change_target_branch":
            return f"changed target branch from `{event.old_ref}` to `{event.new_ref}`"
        case "commit_ref" if event.ref_commit_sha:
            return f"mentioned in commit {event.ref_commit_sha}"
        case "issue_ref" | "pull_ref" | "comment_ref" if event.ref_issue is not None:
            noun = "issue" if event.ref_issue.pull_request is None else "merge request"
            return f"mentioned in {noun} {_reference(event.ref_issue)}"
        case "add_dependency" if event.dependent_issue is not None:
            return f"marked this issue as related to {_reference(event.dependent_issue)}"
        case "remove_dependency" if event.dependent_issue is not None:
            return f"removed the relation with {_reference(event.dependent_issue)}"
        case "added_deadline" | "modified_deadline":
            return f"changed due date to {event.body.rpartition('|')[0] or event.body}"
    return _TEXTS.get(event.type)


def _reference(item: GiteaReference) -> str:
    return f"#{item.number}" if item.pull_request is None else f"!{item.number}"
