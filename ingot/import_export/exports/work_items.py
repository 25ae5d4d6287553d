"""Issues, merge requests and snippets in an export, with GitLab's column names."""

import json
from collections.abc import Iterator, Sequence

from ingot.collaboration.issues.tables import issue_assignees, issues
from ingot.collaboration.issues.timeline.tables import timeline_events
from ingot.collaboration.merge_requests.tables import (
    merge_request_approvals,
    merge_request_assignees,
    merge_request_reviewers,
    merge_request_versions,
    merge_requests,
)
from ingot.collaboration.snippets.tables import snippet_files, snippets
from ingot.import_export.exports.rows import Row, RowReader
from ingot.import_export.exports.subject_parts import SubjectParts
from ingot.projects.projects.tables import projects

VISIBILITY_LEVELS = {"private": 0, "internal": 10, "public": 20}
"""GitLab's numbers of the visibilities."""
_ISSUE_COLUMNS = (
    "id",
    "iid",
    "project_id",
    "title",
    "author_id",
    "created_at",
    "updated_at",
    "description",
    "state",
    "confidential",
    "closed_at",
    "closed_by_id",
    "due_date",
    "time_estimate",
    "discussion_locked",
)
_EVENT_COLUMNS = ("author_id", "note", "occurred_at", "created_at", "updated_at", "action")
_MERGE_REQUEST_COLUMNS = (
    "id",
    "iid",
    "target_branch",
    "source_branch",
    "source_project_id",
    "target_project_id",
    "author_id",
    "title",
    "created_at",
    "updated_at",
    "state",
    "description",
    "merge_error",
    "merge_user_id",
    "time_estimate",
    "squash",
    "discussion_locked",
)


def issue_rows(reader: RowReader, project_id: int) -> Iterator[Row]:
    """Yield the issues of a project with everything that belongs to them."""
    for batch in reader.batches(issues, "project_id", project_id):
        existing = [issue for issue in batch if issue["deleted_at"] is None]
        parts = SubjectParts(reader, project_id, "issue", existing)
        ids = [issue["id"] for issue in existing]
        assignees = reader.children(issue_assignees, "issue_id", ids)
        events = reader.children(timeline_events, "issue_id", ids)
        for issue in existing:
            yield {
                **{name: issue[name] for name in _ISSUE_COLUMNS},
                "relative_position": issue["position"],
                "issue_type": issue["issue_type"],
                "severity": issue["severity"],
                "work_item_type": {"base_type": issue["issue_type"]},
                "issue_assignees": _user_rows(assignees[issue["id"]]),
                "timeline_events": [
                    {**{name: event[name] for name in _EVENT_COLUMNS}, "tags": json.loads(event["tags"])}
                    for event in events[issue["id"]]
                ],
                **parts.discussion_fields(issue),
                **parts.planning_fields(issue),
            }


def merge_request_rows(reader: RowReader, project_id: int) -> Iterator[Row]:
    """Yield the merge requests into a project with everything that belongs to them."""
    for batch in reader.batches(merge_requests, "target_project_id", project_id):
        existing = [request for request in batch if request["deleted_at"] is None]
        ids = [request["id"] for request in existing]
        parts = SubjectParts(reader, project_id, "merge_request", existing)
        assignees = reader.children(merge_request_assignees, "merge_request_id", ids)
        reviewers = reader.children(merge_request_reviewers, "merge_request_id", ids)
        approvals = reader.children(merge_request_approvals, "merge_request_id", ids)
        versions = reader.children(merge_request_versions, "merge_request_id", ids)
        source_ids = {request["source_project_id"] for request in existing} - {None, project_id}
        forks = reader.by_ids(projects, sorted(source_ids))
        for request in existing:
            fork = forks.get(request["source_project_id"] or 0)
            yield {
                **_merge_request_row(request, versions[request["id"]]),
                "source_project_path": None if fork is None else fork["full_path"],
                "merge_request_assignees": _user_rows(assignees[request["id"]]),
                "merge_request_reviewers": [
                    {"user_id": row["user_id"], "state": row["state"] or "unreviewed"}
                    for row in reviewers[request["id"]]
                ],
                "approvals": [
                    {"user_id": row["user_id"], "created_at": row["created_at"], "updated_at": row["created_at"]}
                    for row in approvals[request["id"]]
                ],
                **parts.discussion_fields(request),
                **parts.planning_fields(request),
            }


def snippet_rows(reader: RowReader, project_id: int) -> Iterator[Row]:
    """Yield the snippets of a project with their files, notes and reactions."""
    for batch in reader.batches(snippets, "project_id", project_id):
        parts = SubjectParts(reader, project_id, "snippet", batch)
        files = reader.children(snippet_files, "snippet_id", [snippet["id"] for snippet in batch])
        for snippet in batch:
            columns = ("id", "title", "author_id", "project_id", "created_at", "updated_at", "description")
            texts = [{"path": file["path"], "content": file["content"]} for file in files[snippet["id"]]]
            yield {
                **{name: snippet[name] for name in columns},
                "file_name": texts[0]["path"] if texts else "",
                "content": texts[0]["content"] if texts else "",
                "visibility_level": VISIBILITY_LEVELS[snippet["visibility"]],
                "files": texts,
                **parts.discussion_fields(snippet),
            }


def _merge_request_row(request: Row, versions: Sequence[Row]) -> Row:
    rows = [_version_row(version) for version in versions]
    return {
        **{name: request[name] for name in _MERGE_REQUEST_COLUMNS},
        "merge_commit_sha": request["merge_commit_oid"],
        "squash_commit_sha": request["squash_commit_oid"],
        "merge_status": "unchecked",
        "merge_params": {"force_remove_source_branch": "1" if request["remove_source_branch"] else "0"},
        "diff_head_sha": request["head_oid"],
        "source_branch_sha": request["head_oid"],
        "metrics": {
            "merged_at": request["merged_at"],
            "merged_by_id": request["merged_by_id"],
            "latest_closed_at": request["closed_at"],
            "latest_closed_by_id": request["closed_by_id"],
        },
        "merge_request_diff": rows[-1] if rows else None,
        "merge_request_diffs": rows,
    }


def _version_row(version: Row) -> Row:
    return {
        "id": version["id"],
        "state": version["state"],
        "created_at": version["created_at"],
        "updated_at": version["created_at"],
        "base_commit_sha": version["base_oid"],
        "head_commit_sha": version["head_oid"],
        "start_commit_sha": version["start_oid"],
        "commits_count": version["commits_count"],
        "files_count": version["files_count"],
        "real_size": version["files_count"],
        "patch_id_sha": version["patch_id"],
        "merge_request_diff_commits": [],
        "merge_request_diff_files": [],
    }


def _user_rows(rows: Sequence[Row]) -> list[Row]:
    return [{"user_id": row["user_id"]} for row in rows]
