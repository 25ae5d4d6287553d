"""Issues and merge requests of a GitLab project, with their discussions, reactions and events."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from ingot.import_export.source import Batch
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.gitlab.item_facts import ItemFactReader
from ingot.import_export.sources.gitlab.item_shapes import (
    GitLabApprovals,
    GitLabAward,
    GitLabDiscussion,
    GitLabIssue,
    GitLabIssueLink,
    GitLabItem,
    GitLabMergeRequest,
    GitLabResourceEvent,
    GitLabVersion,
)
from ingot.import_export.sources.gitlab.notes import (
    award_records,
    discussion_records,
    label_event_records,
    milestone_event_records,
    state_event_records,
)
from ingot.import_export.sources.gitlab.users import GitLabUsers
from ingot.import_export.work_item_records import (
    PARENT,
    ApprovalRecord,
    IssueLinkRecord,
    IssueRecord,
    MergeRequestRecord,
    VersionRecord,
)

PAGE_SIZE = 100
BATCH_SIZE = 25
_LABEL_NOTE = re.compile(r"(added|removed) .*label|(added|removed) (<|~)")
_MILESTONE_NOTE = re.compile(r"(changed|removed) .*milestone")
_STATE_NOTE = re.compile(r"closed|reopened|merged")
_APPROVAL_NOTE = "approved this merge request"
_ItemT = TypeVar("_ItemT", bound=GitLabItem)


class ItemCursor(msgspec.Struct, omit_defaults=True):
    """Creation time of the last item, and the ids of all items read that have this time.

    Numbers of pages would skip an item whenever an earlier one is deleted during the import.
    """

    after: str = ""
    seen: list[int] = []


class ItemParts(NamedTuple):
    """Related data of a batch of items, each by the item's iid, except the awards of notes by the note's id."""

    discussions: Mapping[int, list[GitLabDiscussion]]
    awards: Mapping[int, list[GitLabAward]]
    note_awards: Mapping[int, list[GitLabAward]]
    label_events: Mapping[int, list[GitLabResourceEvent]]
    milestone_events: Mapping[int, list[GitLabResourceEvent]]
    state_events: Mapping[int, list[GitLabResourceEvent]]


class ItemReader(Generic[_ItemT]):
    """Reader of issues or merge requests in the order of their creation."""

    def __init__(
        self, client: SourceClient, users: GitLabUsers, path: str, fact_reader: ItemFactReader, shape: type[_ItemT]
    ) -> None:
        self.client = client
        self.users = users
        self.path = path
        self.fact_reader = fact_reader
        self._shape = shape

    def pages(self, cursor: str | None, since: str | None, size: int) -> Iterator[tuple[list[_ItemT], str]]:
        """Yield parts of pages, and the cursor after each."""
        position = msgspec.json.decode(cursor or "{}", type=ItemCursor)
        while True:
            fresh, complete = self._page(position, since)
            for start in range(0, len(fresh), size):
                part = fresh[start : start + size]
                last = part[-1].created_at
                same = [item.id for item in part if item.created_at == last]
                position = ItemCursor(last, [*(position.seen if position.after == last else []), *same])
                yield part, msgspec.json.encode(position).decode()
            if complete:
                return

    def parts(self, items: Sequence[_ItemT]) -> ItemParts:
        """Request all that belongs to these items, as far as it can exist."""
        facts = self.fact_reader.facts([item.iid for item in items])
        noted = [item for item in items if item.user_notes_count or facts is None or item.iid in facts.noted]
        discussions = {item.iid: [] for item in items} | self.lists(noted, "discussions", GitLabDiscussion)
        awarded = facts.awarded if facts is not None else None
        if awarded is None:
            awarded = {item.iid for item in items if item.upvotes or item.downvotes}
        return ItemParts(
            discussions,
            self.lists([item for item in items if item.iid in awarded], "award_emoji", GitLabAward),
            self._note_awards(discussions, facts.awarded_notes if facts is not None else set()),
            self._events(items, discussions, "label", _LABEL_NOTE, lambda item: bool(item.labels)),
            self._events(items, discussions, "milestone", _MILESTONE_NOTE, lambda item: item.milestone is not None),
            self._events(items, discussions, "state", _STATE_NOTE, lambda item: item.state != "opened"),
        )

    def lists(self, items: Sequence[_ItemT], name: str, shape: type[Any]) -> dict[int, list[Any]]:
        """Return a list of each item, by iid."""
        targets = [self.client.target(f"{self.path}/{item.iid}/{name}", {"per_page": PAGE_SIZE}) for item in items]
        found = self.client.lists(targets, shape)
        return {item.iid: entries for item, entries in zip(items, found, strict=True)}

    def fields(self, item: _ItemT, parts: ItemParts) -> dict[str, Any]:
        """Return the fields that the records of issues and merge requests share."""
        users, stats = self.users, item.time_stats
        assignees = item.assignees if item.assignees is not None else [item.assignee] if item.assignee else []
        return {
            "key": str(item.id),
            "iid": item.iid,
            "title": item.title,
            "author": users.record(item.author),
            "created_at": item.created_at,
            "updated_at": item.updated_at,
            "description": item.description,
            "state": item.state,
            "labels": item.labels,
            "milestone": str(item.milestone.id) if item.milestone else None,
            "assignees": users.records(assignees),
            "closed_at": item.closed_at,
            "closed_by": users.record_or_none(item.closed_by),
            "discussion_locked": bool(item.discussion_locked),
            "time_estimate": stats.time_estimate if stats else 0,
            "total_time_spent": stats.total_time_spent if stats else 0,
            "awards": award_records(users, parts.awards.get(item.iid, ())),
            "discussions": discussion_records(users, parts.discussions[item.iid], parts.note_awards),
            "label_events": label_event_records(users, parts.label_events.get(item.iid, ())),
            "milestone_events": milestone_event_records(users, parts.milestone_events.get(item.iid, ())),
            "state_events": state_event_records(users, parts.state_events.get(item.iid, ())),
        }

    def _page(self, position: ItemCursor, since: str | None) -> tuple[list[_ItemT], bool]:
        """Return the items after a position that one page holds, and whether it is the last page."""
        parameters: dict[str, str | int] = {
            "order_by": "created_at",
            "sort": "asc",
            "state": "all",
            "scope": "all",
            "per_page": PAGE_SIZE,
        }
        if position.after:
            parameters["created_after"] = position.after
        if since is not None:
            parameters["updated_after"] = since
        target: str | None = self.client.target(self.path, parameters)
        while target is not None:
            items, target = self.client.page(target, self._shape)
            fresh = [item for item in items if item.id not in position.seen]
            if fresh:
                return fresh, target is None
        return [], True

    def _note_awards(
        self, discussions: Mapping[int, list[GitLabDiscussion]], note_ids: set[int]
    ) -> dict[int, list[GitLabAward]]:
        notes = [
            (iid, note.id)
            for iid, found in discussions.items()
            for discussion in found
            for note in discussion.notes
            if note.id in note_ids
        ]
        targets = [
            self.client.target(f"{self.path}/{iid}/notes/{note_id}/award_emoji", {"per_page": PAGE_SIZE})
            for iid, note_id in notes
        ]
        lists = self.client.lists(targets, GitLabAward)
        return {note_id: awards for (_, note_id), awards in zip(notes, lists, strict=True)}

    def _events(
        self,
        items: Sequence[_ItemT],
        discussions: Mapping[int, list[GitLabDiscussion]],
        name: str,
        pattern: re.Pattern[str],
        has_value: Any,
    ) -> dict[int, list[GitLabResourceEvent]]:
        """Request the events of items that have the value, or a system note about it."""
        chosen = [item for item in items if has_value(item) or mentioned(discussions[item.iid], pattern)]
        return self.lists(chosen, f"resource_{name}_events", GitLabResourceEvent)


def mentioned(discussions: Sequence[GitLabDiscussion], pattern: re.Pattern[str]) -> bool:
    """Return whether a system note matches."""
    return any(note.system and pattern.match(note.body) for each in discussions for note in each.notes)


class IssueReader(ItemReader[GitLabIssue]):
    """Reader of issues and of the links between them."""

    def __init__(self, client: SourceClient, users: GitLabUsers, project_path: str, full_path: str) -> None:
        path = f"{project_path}/issues"
        super().__init__(client, users, path, ItemFactReader(client, full_path, "issues"), GitLabIssue)

    def batches(self, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the issues."""
        for issues, following in self.pages(cursor, since, BATCH_SIZE):
            parts = self.parts(issues)
            records = [
                IssueRecord(
                    **self.fields(issue, parts),
                    confidential=issue.confidential,
                    due_date=issue.due_date,
                    issue_type=issue.issue_type or "issue",
                    severity=(issue.severity or "unknown").lower(),
                )
                for issue in issues
            ]
            yield Batch(records, following)

    def links(self, project_id: int, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the links between issues of the project, each once, and the issues that contain its tasks."""
        for issues, following in self.pages(cursor, since, PAGE_SIZE):
            linked = self.fact_reader.linked([issue.iid for issue in issues])
            asked = [issue for issue in issues if linked is None or issue.iid in linked]
            found = self.lists(asked, "links", GitLabIssueLink)
            records = [
                IssueLinkRecord(
                    key=str(link.issue_link_id),
                    source_iid=issue.iid,
                    target_iid=link.iid,
                    link_type=link.link_type,
                    created_at=link.link_created_at,
                    updated_at=link.link_updated_at,
                )
                for issue in asked
                for link in found[issue.iid]
                if link.project_id == project_id and _is_source(issue.iid, link)
            ]
            yield Batch([*records, *self._parents(issues)], following)

    def _parents(self, issues: Sequence[GitLabIssue]) -> list[IssueLinkRecord]:
        tasks = {issue.iid: issue for issue in issues if issue.issue_type == "task"}
        return [
            IssueLinkRecord(
                key=f"parent {parent} {iid}",
                source_iid=parent,
                target_iid=iid,
                link_type=PARENT,
                created_at=tasks[iid].created_at,
                updated_at=tasks[iid].updated_at,
            )
            for iid, parent in self.fact_reader.parents(list(tasks)).items()
        ]


def _is_source(iid: int, link: GitLabIssueLink) -> bool:
    """Return whether a link is listed for the issue where it begins; both issues list it."""
    if link.link_type == "relates_to":
        return iid < link.iid
    return link.link_type == "blocks"


class MergeRequestReader(ItemReader[GitLabMergeRequest]):
    """Reader of merge requests."""

    def __init__(self, client: SourceClient, users: GitLabUsers, project_path: str, full_path: str) -> None:
        path = f"{project_path}/merge_requests"
        super().__init__(client, users, path, ItemFactReader(client, full_path, "mergeRequests"), GitLabMergeRequest)

    def batches(self, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the merge requests."""
        for items, following in self.pages(cursor, since, BATCH_SIZE):
            parts = self.parts(items)
            versions = self.lists(items, "versions", GitLabVersion)
            records = [self._record(item, parts, versions[item.iid]) for item in items]
            yield Batch(records, following)

    def _record(
        self, item: GitLabMergeRequest, parts: ItemParts, versions: Sequence[GitLabVersion]
    ) -> MergeRequestRecord:
        users, fields = self.users, self.fields(item, parts)
        newest = max(versions, key=lambda version: version.id, default=None)
        from_fork = item.source_project_id is not None and item.source_project_id != item.target_project_id
        return MergeRequestRecord(
            **fields,
            source_branch=item.source_branch,
            target_branch=item.target_branch,
            head_sha=item.sha or (newest.head_commit_sha if newest else None),
            base_sha=newest.base_commit_sha if newest else None,
            start_sha=newest.start_commit_sha if newest else None,
            source_project=str(item.source_project_id) if from_fork else None,
            draft=bool(item.draft or item.work_in_progress),
            squash=bool(item.squash),
            remove_source_branch=bool(item.force_remove_source_branch),
            merge_commit_sha=item.merge_commit_sha,
            squash_commit_sha=item.squash_commit_sha,
            merged_at=item.merged_at,
            merged_by=users.record_or_none(item.merge_user or item.merged_by),
            reviewers=users.records(item.reviewers),
            approvals=self._approvals(item, parts.discussions[item.iid]),
            versions=[
                VersionRecord(
                    key=str(version.id),
                    head_sha=version.head_commit_sha,
                    base_sha=version.base_commit_sha,
                    start_sha=version.start_commit_sha,
                    created_at=version.created_at,
                )
                for version in sorted(versions, key=lambda version: version.id)
            ],
        )

    def _approvals(self, item: GitLabMergeRequest, discussions: Sequence[GitLabDiscussion]) -> list[ApprovalRecord]:
        """Request the approvals if a system note tells of one; it also has its time, which older versions omit."""
        times = {
            note.author.id: note.created_at
            for discussion in discussions
            for note in discussion.notes
            if note.system and note.author is not None and note.body.startswith(_APPROVAL_NOTE)
        }
        if not times:
            return []
        approvals = self.client.get_or_none(f"{self.path}/{item.iid}/approvals", GitLabApprovals) or GitLabApprovals()
        return [
            ApprovalRecord(
                user=self.users.record(each.user),
                created_at=each.approved_at or times.get(each.user.id, item.updated_at),
            )
            for each in approvals.approved_by
        ]
