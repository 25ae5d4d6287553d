"""Issues and pull requests of a GitHub repository as issues and merge requests with the same numbers."""

from collections.abc import Iterator, Sequence
from typing import Any

from ingot.import_export.source import Batch
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.github.reviews import review_discussions
from ingot.import_export.sources.github.shapes import (
    GitHubEvent,
    GitHubIssue,
    GitHubPullRequest,
    GitHubReaction,
    GitHubReviewComment,
)
from ingot.import_export.sources.github.timeline import Timeline, TimelineParts, award_records
from ingot.import_export.sources.github.users import GitHubUsers
from ingot.import_export.sources.pull_request_numbers import PullRequestNumbers
from ingot.import_export.work_item_records import IssueRecord, MergeRequestRecord

PAGE_SIZE = 100
BATCH_SIZE = 25
DELETED_FORK = "deleted"


class GitHubItems:
    """Reader of issues and pull requests, which GitHub keeps in one list."""

    def __init__(
        self,
        client: SourceClient,
        users: GitHubUsers,
        path: str,
        timeline: Timeline,
        numbers: PullRequestNumbers,
    ) -> None:
        self._client = client
        self._users = users
        self._path = path
        self._timeline = timeline
        self._numbers = numbers

    def issues(self, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the issues."""
        for part, following in self._parts(cursor, since):
            issues = [issue for issue in part if issue.pull_request is None]
            parts = self._timelines(issues)
            awards = self._reactions([(issue.number, issue.reactions.total_count) for issue in issues], "issues/{}")
            records = [
                IssueRecord(**self._fields(issue, parts[issue.number], awards.get(issue.number, [])))
                for issue in issues
            ]
            yield Batch([self._numbers.rewrite_record(record) for record in records], following)

    def pull_requests(self, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the pull requests."""
        for part, following in self._parts(cursor, since):
            issues = [issue for issue in part if issue.pull_request is not None]
            parts = self._timelines(issues)
            awards = self._reactions([(issue.number, issue.reactions.total_count) for issue in issues], "issues/{}")
            targets = [self._client.target(f"{self._path}/pulls/{issue.number}") for issue in issues]
            pulls = {pull.number: pull for pull in self._client.documents(targets, GitHubPullRequest)}
            comments = self._review_comments([pull for pull in pulls.values() if pull.review_comments])
            records = [
                self._merge_request(
                    issue,
                    pulls[issue.number],
                    parts[issue.number],
                    awards.get(issue.number, []),
                    comments.get(issue.number, []),
                )
                for issue in issues
                if issue.number in pulls
            ]
            yield Batch([self._numbers.rewrite_record(record) for record in records], following)

    def _parts(self, cursor: str | None, since: str | None) -> Iterator[tuple[list[GitHubIssue], str]]:
        parameters: dict[str, str | int] = {
            "state": "all",
            "sort": "created",
            "direction": "asc",
            "per_page": PAGE_SIZE,
        }
        if since is not None:
            parameters["since"] = since
        first = self._client.target(f"{self._path}/issues", parameters)
        yield from self._client.parts(first, GitHubIssue, cursor, BATCH_SIZE)

    def _timelines(self, issues: Sequence[GitHubIssue]) -> dict[int, TimelineParts]:
        targets = [
            self._client.target(f"{self._path}/issues/{issue.number}/timeline", {"per_page": PAGE_SIZE})
            for issue in issues
        ]
        timelines = self._client.lists(targets, GitHubEvent)
        commented = [
            (event.id, event.reactions.total_count)
            for timeline in timelines
            for event in timeline
            if event.event == "commented" and event.id is not None
        ]
        reactions = self._reactions(commented, "issues/comments/{}")
        return {
            issue.number: self._timeline.parts(timeline, reactions)
            for issue, timeline in zip(issues, timelines, strict=True)
        }

    def _review_comments(self, pulls: Sequence[GitHubPullRequest]) -> dict[int, list[GitHubReviewComment]]:
        targets = [
            self._client.target(f"{self._path}/pulls/{pull.number}/comments", {"per_page": PAGE_SIZE}) for pull in pulls
        ]
        lists = self._client.lists(targets, GitHubReviewComment)
        return {pull.number: comments for pull, comments in zip(pulls, lists, strict=True)}

    def _reactions(self, counted: Sequence[tuple[int, int]], place: str) -> dict[int, list[GitHubReaction]]:
        """Request the reactions of the objects that have some."""
        ids = [number for number, count in counted if count]
        targets = [
            self._client.target(f"{self._path}/{place.format(number)}/reactions", {"per_page": PAGE_SIZE})
            for number in ids
        ]
        return dict(zip(ids, self._client.lists(targets, GitHubReaction), strict=True))

    def _fields(self, issue: GitHubIssue, parts: TimelineParts, reactions: Sequence[GitHubReaction]) -> dict[str, Any]:
        users = self._users
        closed = [event for event in parts.state_events if event.state == "closed"]
        closed_by = users.record_or_none(issue.closed_by) or (closed[-1].user if closed else None)
        return {
            "key": str(issue.id),
            "iid": issue.number,
            "title": issue.title,
            "author": users.record(issue.user),
            "created_at": issue.created_at,
            "updated_at": issue.updated_at,
            "description": issue.body,
            "state": "opened" if issue.state == "open" else "closed",
            "labels": [label.name for label in issue.labels],
            "milestone": str(issue.milestone.number) if issue.milestone else None,
            "assignees": [users.record(user) for user in issue.assignees],
            "closed_at": issue.closed_at,
            "closed_by": closed_by if issue.state == "closed" else None,
            "discussion_locked": issue.locked,
            "awards": award_records(users, reactions),
            "discussions": parts.discussions,
            "label_events": parts.label_events,
            "milestone_events": parts.milestone_events,
            "state_events": parts.state_events,
        }

    def _merge_request(
        self,
        issue: GitHubIssue,
        pull: GitHubPullRequest,
        parts: TimelineParts,
        reactions: Sequence[GitHubReaction],
        comments: Sequence[GitHubReviewComment],
    ) -> MergeRequestRecord:
        users = self._users
        fields = self._fields(issue, parts, reactions)
        if comments:
            given = self._reactions([(each.id, each.reactions.total_count) for each in comments], "pulls/comments/{}")
            discussions = [*fields["discussions"], *review_discussions(users, comments, given, pull.base.sha)]
            fields["discussions"] = sorted(discussions, key=lambda each: each.notes[0].created_at)
        if pull.merged_at is not None:
            fields["state"] = "merged"
        reviewers = {approval.user.key: approval.user for approval in parts.approvals}
        reviewers |= {str(user.id): users.record(user) for user in pull.requested_reviewers}
        return MergeRequestRecord(
            **fields,
            source_branch=pull.head.ref,
            target_branch=pull.base.ref,
            head_sha=pull.head.sha,
            start_sha=pull.base.sha,
            source_project=self._fork(pull),
            draft=pull.draft,
            merge_commit_sha=pull.merge_commit_sha if pull.merged_at is not None else None,
            merged_at=pull.merged_at,
            merged_by=users.record_or_none(pull.merged_by),
            reviewers=list(reviewers.values()),
            approvals=parts.approvals,
        )

    def _fork(self, pull: GitHubPullRequest) -> str | None:
        """Return the fork of a pull request, or None if its branch is in the repository itself."""
        if pull.head.repo is None:
            return DELETED_FORK
        same = pull.base.repo is not None and pull.head.repo.id == pull.base.repo.id
        return None if same else pull.head.repo.full_name
