"""Issues and pull requests of a Gitea repository as issues and merge requests with the same numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from ingot.import_export.source import Batch
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.gitea.attachments import with_attachments
from ingot.import_export.sources.gitea.reviews import review_parts
from ingot.import_export.sources.gitea.shapes import (
    GiteaAttachment,
    GiteaComment,
    GiteaEvent,
    GiteaItem,
    GiteaPullRequest,
    GiteaReaction,
    GiteaReference,
    GiteaReview,
    GiteaReviewComment,
    GiteaTime,
    GiteaUser,
)
from ingot.import_export.sources.gitea.timeline import GiteaTimelineParts, award_records, timeline_parts
from ingot.import_export.sources.gitea.users import user_record, user_records
from ingot.import_export.sources.pull_request_numbers import PullRequestNumbers
from ingot.import_export.sources.times import changed_since
from ingot.import_export.work_item_records import (
    IssueLinkRecord,
    IssueRecord,
    MergeRequestRecord,
    TimelogRecord,
)

PAGE_SIZE = 50
"""Largest page that Gitea serves by default."""
BATCH_SIZE = 25


class GiteaItems:
    """Reader of issues and pull requests."""

    def __init__(self, client: SourceClient, path: str, numbers: PullRequestNumbers) -> None:
        self._client = client
        self._numbers = numbers
        self._path = path
        self._times: dict[int, list[GiteaTime]] | None = None

    def issues(self, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the issues."""
        for issues, following in self._issue_pages(cursor, since):
            fields = self._fields(issues)
            records = [
                IssueRecord(**fields[issue.number], due_date=(issue.due_date or "")[:10] or None) for issue in issues
            ]
            yield Batch([self._numbers.rewrite_record(record) for record in records], following)

    def links(self, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the dependencies between issues as links: an issue is blocked by those that it depends on."""
        for issues, following in self._issue_pages(cursor, since):
            found = self._lists(issues, "issues/{}/dependencies", GiteaReference)
            records = [
                IssueLinkRecord(
                    key=f"{blocking.number}:{issue.number}",
                    source_iid=blocking.number,
                    target_iid=issue.number,
                    link_type="blocks",
                )
                for issue in issues
                for blocking in found[issue.number]
                if blocking.pull_request is None and self._is_own(blocking)
            ]
            yield Batch(records, following)

    def pull_requests(self, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the pull requests; their list has no filter by time, but can begin with the last changed."""
        sort = "oldest" if since is None else "recentupdate"
        first = self._client.target(f"{self._path}/pulls", {"state": "all", "sort": sort, "limit": PAGE_SIZE})
        for part, following in self._client.parts(first, GiteaPullRequest, cursor, BATCH_SIZE):
            pulls = [pull for pull in part if changed_since(pull.updated_at, since)]
            # The list omits the attachments, in contrast to that of issues.
            assets = self._lists(pulls, "issues/{}/assets", GiteaAttachment)
            fields = self._fields([structs.replace(pull, assets=assets[pull.number]) for pull in pulls])
            reviews = self._lists(pulls, "pulls/{}/reviews", GiteaReview)
            comments = self._review_comments(pulls, reviews)
            records = [
                self._merge_request(pull, fields[pull.number], reviews[pull.number], comments.get(pull.number, []))
                for pull in pulls
            ]
            yield Batch([self._numbers.rewrite_record(record) for record in records], following)
            if len(pulls) < len(part):
                return

    def _issue_pages(self, cursor: str | None, since: str | None) -> Iterator[tuple[list[GiteaItem], str]]:
        parameters: dict[str, str | int] = {"state": "all", "type": "issues", "limit": PAGE_SIZE}
        if since is not None:
            parameters["since"] = since
        first = self._client.target(f"{self._path}/issues", parameters)
        yield from self._client.parts(first, GiteaItem, cursor, BATCH_SIZE)

    def _fields(self, items: Sequence[GiteaItem]) -> dict[int, dict[str, Any]]:
        """Request all that belongs to items, and return the fields that both kinds of records share, by number."""
        timelines = self._lists(items, "issues/{}/timeline", GiteaEvent)
        comments = self._lists([item for item in items if item.comments], "issues/{}/comments", GiteaComment)
        reactions = self._lists(items, "issues/{}/reactions", GiteaReaction)
        ids = [comment.id for found in comments.values() for comment in found]
        targets = [self._client.target(f"{self._path}/issues/comments/{each}/reactions") for each in ids]
        given = dict(zip(ids, self._client.lists(targets, GiteaReaction), strict=True))
        return {
            item.number: self._item_fields(
                item,
                timeline_parts(timelines[item.number], comments.get(item.number, []), given),
                reactions[item.number],
            )
            for item in items
        }

    def _item_fields(
        self, item: GiteaItem, parts: GiteaTimelineParts, reactions: Sequence[GiteaReaction]
    ) -> dict[str, Any]:
        closed = [event for event in parts.state_events if event.state in ("closed", "merged")]
        times = self._tracked_times().get(item.number, [])
        return {
            "key": str(item.id),
            "iid": item.number,
            "title": item.title,
            "author": user_record(item.user, item.original_author),
            "created_at": item.created_at,
            "updated_at": item.updated_at,
            "description": with_attachments(item.body, item.assets),
            "state": "opened" if item.state == "open" else "closed",
            "labels": [label.name for label in item.labels or []],
            "milestone": str(item.milestone.id) if item.milestone else None,
            "assignees": user_records(item.assignees),
            "closed_at": item.closed_at,
            "closed_by": closed[-1].user if closed and item.state == "closed" else None,
            "discussion_locked": item.is_locked,
            "time_estimate": item.time_estimate,
            "total_time_spent": sum(each.time for each in times),
            "timelogs": [_timelog(each) for each in times],
            "awards": award_records(f"item:{item.id}", reactions),
            "discussions": parts.discussions,
            "label_events": parts.label_events,
            "milestone_events": parts.milestone_events,
            "state_events": parts.state_events,
        }

    def _merge_request(
        self,
        pull: GiteaPullRequest,
        fields: dict[str, Any],
        reviews: Sequence[GiteaReview],
        comments: Sequence[GiteaReviewComment],
    ) -> MergeRequestRecord:
        parts = review_parts(pull, reviews, comments)
        discussions = sorted([*fields["discussions"], *parts.discussions], key=lambda each: each.notes[0].created_at)
        reviewers = {approval.user.key: approval.user for approval in parts.approvals}
        reviewers |= {str(user.id): user_record(user) for user in pull.requested_reviewers or [] if user is not None}
        same = pull.head.repo is not None and pull.head.repo_id == pull.base.repo_id
        fork = pull.head.repo.full_name if pull.head.repo is not None else "deleted"
        return MergeRequestRecord(
            **{
                **fields,
                "state": "merged" if pull.merged else fields["state"],
                "discussions": discussions,
                "approvals": parts.approvals,
            },
            source_branch=pull.head.ref,
            target_branch=pull.base.ref,
            head_sha=pull.head.sha or None,
            base_sha=pull.merge_base or None,
            start_sha=pull.base.sha or None,
            source_project=None if same else fork,
            draft=pull.draft,
            merge_commit_sha=pull.merge_commit_sha if pull.merged else None,
            merged_at=pull.merged_at if pull.merged else None,
            merged_by=user_record(pull.merged_by) if pull.merged and pull.merged_by is not None else None,
            reviewers=list(reviewers.values()),
        )

    def _review_comments(
        self, pulls: Sequence[GiteaPullRequest], reviews: Mapping[int, Sequence[GiteaReview]]
    ) -> dict[int, list[GiteaReviewComment]]:
        places = [(pull.number, each.id) for pull in pulls for each in reviews[pull.number] if each.comments_count]
        targets = [
            self._client.target(f"{self._path}/pulls/{number}/reviews/{review}/comments") for number, review in places
        ]
        comments: dict[int, list[GiteaReviewComment]] = {}
        for (number, _), found in zip(places, self._client.lists(targets, GiteaReviewComment), strict=True):
            comments.setdefault(number, []).extend(found)
        return comments

    def _lists(self, items: Sequence[GiteaItem], place: str, shape: type[Any]) -> dict[int, list[Any]]:
        targets = [
            self._client.target(f"{self._path}/{place.format(item.number)}", {"limit": PAGE_SIZE}) for item in items
        ]
        return {item.number: found for item, found in zip(items, self._client.lists(targets, shape), strict=True)}

    def _tracked_times(self) -> Mapping[int, Sequence[GiteaTime]]:
        """Return the tracked times of the repository by issue; the list is short compared with one request each."""
        if self._times is None:
            self._times = {}
            for time in self._client.entries_or_none(f"{self._path}/times", GiteaTime, {"limit": PAGE_SIZE}) or []:
                if time.issue is not None:
                    self._times.setdefault(time.issue.number, []).append(time)
        return self._times

    def _is_own(self, item: GiteaReference) -> bool:
        """Return whether an issue belongs to this repository; dependencies may be in others."""
        return f"/{self._path.split('/repos/', 1)[1]}/" in item.html_url


def _timelog(time: GiteaTime) -> TimelogRecord:
    user = user_record(GiteaUser(time.user_id, time.user_name))
    return TimelogRecord(key=str(time.id), user=user, seconds=time.time, spent_at=time.created)
