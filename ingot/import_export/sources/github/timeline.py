"""Timeline of an issue or pull request of GitHub as discussions, system notes and events."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingot.import_export.sources.github.shapes import GitHubEvent, GitHubMention, GitHubReaction
from ingot.import_export.sources.github.users import GitHubUsers
from ingot.import_export.work_item_records import (
    ApprovalRecord,
    AwardRecord,
    DiscussionRecord,
    LabelEventRecord,
    MilestoneEventRecord,
    NoteRecord,
    StateEventRecord,
)

_EMOJI = {
    "+1": "thumbsup",
    "-1": "thumbsdown",
    "laugh": "laughing",
    "hooray": "tada",
    "confused": "confused",
    "heart": "heart",
    "rocket": "rocket",
    "eyes": "eyes",
}
_STATES = {"closed": "closed", "reopened": "reopened", "merged": "merged"}
_TEXTS = {
    "closed": "closed",
    "reopened": "reopened",
    "merged": "merged",
    "locked": "locked the discussion",
    "unlocked": "unlocked the discussion",
    "head_ref_deleted": "deleted the source branch",
    "head_ref_restored": "restored the source branch",
    "head_ref_force_pushed": "force-pushed the source branch",
    "ready_for_review": "marked this merge request as **ready**",
    "convert_to_draft": "marked this merge request as **draft**",
    "pinned": "pinned this issue",
    "unpinned": "unpinned this issue",
    "converted_to_discussion": "converted this issue to a discussion",
}
_REVIEWS = {"approved": "approved this merge request", "changes_requested": "requested changes"}


class TimelineParts(NamedTuple):
    """Records that one timeline yields."""

    discussions: list[DiscussionRecord]
    label_events: list[LabelEventRecord]
    milestone_events: list[MilestoneEventRecord]
    state_events: list[StateEventRecord]
    approvals: list[ApprovalRecord]


class Timeline:
    """Converter of timelines; ``milestones`` maps titles to keys, because events name the title only."""

    def __init__(self, users: GitHubUsers, full_name: str, milestones: Mapping[str, str]) -> None:
        self._users = users
        self._full_name = full_name
        self._milestones = milestones

    def parts(self, events: Sequence[GitHubEvent], reactions: Mapping[int, Sequence[GitHubReaction]]) -> TimelineParts:
        """Convert a timeline; ``reactions`` are those of its comments, by id."""
        parts = TimelineParts([], [], [], [], [])
        approvals: dict[str, ApprovalRecord] = {}
        for event in events:
            time = event.created_at or event.submitted_at
            if time is None:
                continue
            user = self._users.record(event.actor or event.user)
            key = _key(event, time)
            if event.body and event.event in ("commented", "reviewed"):
                awards = award_records(self._users, reactions.get(event.id or 0, ()))
                note = NoteRecord(
                    key=key,
                    author=user,
                    body=event.body,
                    created_at=time,
                    updated_at=event.updated_at or time,
                    awards=awards,
                )
                parts.discussions.append(DiscussionRecord(key=key, notes=[note], individual_note=True))
            if event.event == "reviewed":
                _count_approval(approvals, event.state, ApprovalRecord(user=user, created_at=time))
            text = self._text(event)
            if text is not None:
                key = f"{key}:system"
                note = NoteRecord(key=key, author=user, body=text, created_at=time, updated_at=time, system=True)
                parts.discussions.append(DiscussionRecord(key=key, notes=[note], individual_note=True))
            self._add_event(parts, event, key, time)
        parts.approvals.extend(approvals.values())
        return parts

    def _add_event(self, parts: TimelineParts, event: GitHubEvent, key: str, time: str) -> None:
        user = self._users.record(event.actor or event.user)
        if event.event in ("labeled", "unlabeled") and event.label is not None:
            parts.label_events.append(
                LabelEventRecord(
                    key=key,
                    user=user,
                    action="add" if event.event == "labeled" else "remove",
                    label=event.label.name,
                    created_at=time,
                )
            )
        elif event.event in ("milestoned", "demilestoned") and event.milestone is not None:
            parts.milestone_events.append(
                MilestoneEventRecord(
                    key=key,
                    user=user,
                    action="add" if event.event == "milestoned" else "remove",
                    milestone=self._milestones.get(event.milestone.title),
                    created_at=time,
                )
            )
        elif event.event in _STATES:
            parts.state_events.append(StateEventRecord(key=key, user=user, state=_STATES[event.event], created_at=time))

    def _text(self, event: GitHubEvent) -> str | None:
        """Return the text of a system note in the form of our own ones, or None for entries that have none."""
        match event:
            case GitHubEvent(event="reviewed", state=state):
                return _REVIEWS.get((state or "").lower())
            case GitHubEvent(event="labeled", label=label) if label is not None:
                return f'added ~"{label.name}" label'
            case GitHubEvent(event="unlabeled", label=label) if label is not None:
                return f'removed ~"{label.name}" label'
            case GitHubEvent(event="milestoned", milestone=milestone) if milestone is not None:
                return f'changed milestone to %"{milestone.title}"'
            case GitHubEvent(event="demilestoned"):
                return "removed milestone"
            case GitHubEvent(event="assigned", assignee=assignee) if assignee is not None:
                return f"assigned to @{assignee.login}"
            case GitHubEvent(event="unassigned", assignee=assignee) if assignee is not None:
                return f"unassigned @{assignee.login}"
            case GitHubEvent(event="review_requested", requested_reviewer=reviewer) if reviewer is not None:
                return f"requested review from @{reviewer.login}"
            case GitHubEvent(event="review_request_removed", requested_reviewer=reviewer) if reviewer is not None:
                return f"removed review request for @{reviewer.login}"
            case GitHubEvent(event="renamed", rename=rename) if rename is not None:
                return f"changed title from **{rename.before}** to **{rename.to}**"
            case GitHubEvent(event="referenced", commit_id=commit) if commit:
                return f"mentioned in commit {commit}"
            case GitHubEvent(event="cross-referenced", source=source) if (
                source is not None and source.issue is not None
            ):
                return self._mention(source.issue)
        return _TEXTS.get(event.event)

    def _mention(self, issue: GitHubMention) -> str:
        noun, sign = ("issue", "#") if issue.pull_request is None else ("merge request", "!")
        elsewhere = issue.repository is not None and issue.repository.full_name != self._full_name
        place = issue.repository.full_name if elsewhere and issue.repository is not None else ""
        return f"mentioned in {noun} {place}{sign}{issue.number}"


def award_records(users: GitHubUsers, reactions: Sequence[GitHubReaction]) -> list[AwardRecord]:
    """Build the records of reactions."""
    return [
        AwardRecord(
            key=str(reaction.id),
            name=_EMOJI[reaction.content],
            user=users.record(reaction.user),
            created_at=reaction.created_at,
        )
        for reaction in reactions
        if reaction.content in _EMOJI
    ]


def _count_approval(approvals: dict[str, ApprovalRecord], state: str | None, approval: ApprovalRecord) -> None:
    """Apply a review: a user's last approval counts unless changes were requested or it was dismissed later."""
    match (state or "").lower():
        case "approved":
            approvals[approval.user.key] = approval
        case "changes_requested" | "dismissed":
            approvals.pop(approval.user.key, None)


def _key(event: GitHubEvent, time: str) -> str:
    """Return a key of a timeline entry; mentions have no id of their own."""
    if event.id is not None:
        return f"{event.event}:{event.id}"
    source = event.source.issue.number if event.source is not None and event.source.issue is not None else ""
    return f"{event.event}:{event.node_id or ''}:{source}:{time}"
