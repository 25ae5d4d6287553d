"""Other resources of an archive as records."""

from collections.abc import Iterator, Sequence
from typing import Any

from ingot.import_export.records import (
    BadgeRecord,
    BoardListRecord,
    BoardRecord,
    DeployKeyRecord,
    HookRecord,
    LabelRecord,
    MemberRecord,
    MilestoneRecord,
    ProtectedEnvironmentRecord,
    ProtectedRefRecord,
    ReleaseLinkRecord,
    ReleaseRecord,
    ScheduleRecord,
    SnippetFileRecord,
    SnippetRecord,
    StatusRecord,
)
from ingot.import_export.sources.archive.people import People
from ingot.import_export.sources.archive.resource_rows import (
    TreeAccessLevel,
    TreeBadge,
    TreeBoard,
    TreeDeployKey,
    TreeHook,
    TreeIssueLink,
    TreePipeline,
    TreeProtectedEnvironment,
    TreeProtectedRef,
    TreeRelease,
    TreeSchedule,
    TreeSnippet,
)
from ingot.import_export.sources.archive.tree import TreeLabel, TreeMember, TreeMilestone
from ingot.import_export.sources.archive.work_items import (
    OLDEST,
    award_records,
    discussion_records,
    milestone_key,
)
from ingot.import_export.work_item_records import PARENT, IssueLinkRecord
from ingot.webhooks.tables import EVENT_FLAGS

VISIBILITIES = {0: "private", 10: "internal", 20: "public"}
"""Visibilities by GitLab's numbers."""
_DEFAULT_COLOR = "#6699cc"


def label_record(row: TreeLabel) -> LabelRecord:
    """Return a label."""
    of_group = row.type == "GroupLabel"
    return LabelRecord(
        key=str(row.id) if row.id is not None else f"{'group' if of_group else 'project'} {row.title}",
        title=row.title,
        color=row.color or _DEFAULT_COLOR,
        description=row.description,
        priority=next((each.priority for each in row.priorities), None),
        of_group=of_group,
    )


def milestone_record(row: TreeMilestone) -> MilestoneRecord:
    """Return a milestone."""
    return MilestoneRecord(
        key=milestone_key(row),
        iid=row.iid,
        title=row.title,
        description=row.description,
        state="closed" if row.state == "closed" else "active",
        start_date=row.start_date,
        due_date=row.due_date,
        created_at=row.created_at,
        updated_at=row.updated_at,
        of_group=row.group_id is not None,
    )


def member_record(row: TreeMember, people: People) -> MemberRecord | None:
    """Return a member; None for an invitation that was not accepted."""
    number = row.user_id if row.user_id is not None else row.user.id if row.user else None
    if number is None:
        return None
    return MemberRecord(user=people.find(number), access_level=row.access_level, expires_at=row.expires_at)


def board_record(row: TreeBoard, index: int) -> BoardRecord:
    """Return a board with its label lists."""
    lists = [each for each in row.lists if each.label is not None]
    return BoardRecord(
        key=str(row.id) if row.id is not None else f"board {index}",
        name=row.name or "Development",
        lists=[
            BoardListRecord(
                label=each.label.title,
                position=each.position or 0,
                max_issue_count=each.max_issue_count or 0,
            )
            for each in lists
            if each.label is not None
        ],
        hide_backlog_list=row.hide_backlog_list,
        hide_closed_list=row.hide_closed_list,
    )


def release_record(row: TreeRelease, people: People) -> ReleaseRecord:
    """Return a release."""
    return ReleaseRecord(
        tag=row.tag,
        name=row.name,
        description=row.description,
        author=people.find_or_none(row.author_id),
        created_at=row.created_at,
        released_at=row.released_at or row.created_at,
        milestones=[milestone_key(each.milestone) for each in row.milestone_releases if each.milestone is not None],
        links=[
            ReleaseLinkRecord(
                key=str(link.id) if link.id is not None else link.url,
                name=link.name,
                url=link.url,
                link_type=link.link_type or "other",
                filepath=link.filepath,
            )
            for link in row.links
        ],
    )


def snippet_record(row: TreeSnippet, people: People, index: int) -> SnippetRecord:
    """Return a snippet with its files."""
    key = f"snippet {row.id if row.id is not None else index}"
    files = [SnippetFileRecord(path=file.path, content=file.content) for file in row.files]
    created_at = row.created_at or OLDEST
    return SnippetRecord(
        key=key,
        title=row.title,
        file_name=files[0].path if files else row.file_name or "snippetfile1.txt",
        content=files[0].content if files else row.content or "",
        author=people.find(row.author_id),
        description=row.description,
        visibility=VISIBILITIES.get(row.visibility_level, "private"),
        created_at=created_at,
        updated_at=row.updated_at or created_at,
        files=files if len(files) > 1 else [],
        discussions=discussion_records(row.notes, people, key),
        awards=award_records(row.award_emoji, people, key),
    )


def protected_ref_record(row: TreeProtectedRef) -> ProtectedRefRecord:
    """Return a protected branch or tag."""
    return ProtectedRefRecord(
        name=row.name,
        push_level=_lowest(row.push_access_levels),
        merge_level=_lowest(row.merge_access_levels),
        create_level=_lowest(row.create_access_levels),
        allow_force_push=bool(row.allow_force_push),
    )


def protected_environment_record(row: TreeProtectedEnvironment, *_: object) -> ProtectedEnvironmentRecord:
    """Return a protected environment."""
    levels = [each.access_level for each in row.deploy_access_levels]
    known = tuple(level for level in levels if level is not None)
    return ProtectedEnvironmentRecord(name=row.name, access_levels=known, others=None in levels)


def _lowest(levels: Sequence[TreeAccessLevel]) -> int:
    numbers = [each.access_level for each in levels if each.access_level is not None]
    allowed = [number for number in numbers if number in (30, 40)]
    # Level 0 means that pushing is allowed to no one; 60, to administrators only, has no counterpart.
    return min(allowed) if allowed else 0 if 0 in numbers else 40


def badge_record(row: TreeBadge, index: int) -> BadgeRecord:
    """Return a badge."""
    key = str(row.id) if row.id is not None else f"badge {index}"
    return BadgeRecord(key=key, link_url=row.link_url, image_url=row.image_url, name=row.name)


def schedule_record(row: TreeSchedule, people: People, index: int) -> ScheduleRecord | None:
    """Return a pipeline schedule; its variables are not exported."""
    if row.ref is None:
        return None
    return ScheduleRecord(
        key=str(row.id) if row.id is not None else f"schedule {index}",
        description=row.description or "",
        ref=row.ref,
        cron=row.cron,
        cron_timezone=row.cron_timezone or "UTC",
        owner=people.find_or_none(row.owner_id),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def issue_link_record(row: TreeIssueLink) -> IssueLinkRecord:
    """Return a relation of two issues."""
    return IssueLinkRecord(
        key=f"{'parent ' if row.link_type == PARENT else ''}{row.source_iid} {row.target_iid}",
        source_iid=row.source_iid,
        target_iid=row.target_iid,
        link_type=row.link_type,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def deploy_key_record(row: TreeDeployKey) -> DeployKeyRecord:
    """Return a deploy key."""
    return DeployKeyRecord(
        key=row.key, title=row.title, public_key=row.key, can_push=row.can_push, created_at=row.created_at
    )


def hook_record(row: TreeHook, flags: dict[str, Any]) -> HookRecord:
    """Return a webhook; ``flags`` contains all columns of its row."""
    return HookRecord(
        key=str(row.id) if row.id is not None else row.url,
        url=row.url,
        events=[name for name in EVENT_FLAGS if flags.get(name) is True],
        enable_ssl_verification=row.enable_ssl_verification,
        push_events_branch_filter=row.push_events_branch_filter,
        branch_filter_strategy=row.branch_filter_strategy,
        name=row.name,
        description=row.description,
        created_at=row.created_at,
    )


def status_records(row: TreePipeline, people: People, index: int) -> Iterator[StatusRecord]:
    """Yield the jobs and statuses of a pipeline."""
    pipeline = str(row.id) if row.id is not None else f"pipeline {row.iid or index}"
    if row.sha is None:
        return
    for stage in row.stages:
        for status in (*stage.statuses, *stage.builds, *stage.generic_commit_statuses, *stage.bridges):
            if status.name is None or status.status is None:
                continue
            yield StatusRecord(
                key=f"{pipeline} {status.id if status.id is not None else status.name}",
                sha=row.sha,
                ref=row.ref,
                name=status.name,
                state=status.status,
                author=people.find_or_none(status.user_id),
                target_url=status.target_url,
                description=status.description,
                coverage=status.coverage,
                pipeline=pipeline,
                stage=stage.name,
                allow_failure=bool(status.allow_failure),
                created_at=status.created_at,
                started_at=status.started_at,
                finished_at=status.finished_at,
            )
