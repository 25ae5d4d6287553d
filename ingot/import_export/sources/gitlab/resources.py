"""Labels, milestones, boards, releases and snippets of a GitLab project, and labels and milestones of a group."""

from collections.abc import Sequence
from urllib.parse import quote

from ingot.import_export.records import (
    BoardListRecord,
    BoardRecord,
    LabelRecord,
    MilestoneRecord,
    ReleaseLinkRecord,
    ReleaseRecord,
    SnippetFileRecord,
    SnippetRecord,
)
from ingot.import_export.source import SourceError
from ingot.import_export.sources.client import SourceClient, StatusError
from ingot.import_export.sources.gitlab.item_shapes import GitLabAward, GitLabDiscussion
from ingot.import_export.sources.gitlab.notes import award_records, discussion_records
from ingot.import_export.sources.gitlab.shapes import (
    GitLabBoard,
    GitLabLabel,
    GitLabMilestone,
    GitLabRelease,
    GitLabSnippet,
    GitLabSnippetFile,
)
from ingot.import_export.sources.gitlab.users import GitLabUsers

MAX_SNIPPET_BYTES = 10 * 1024 * 1024


def label_records(labels: Sequence[GitLabLabel], *, of_group: bool = False) -> list[LabelRecord]:
    """Build the records of labels."""
    return [
        LabelRecord(
            key=str(label.id),
            title=label.name,
            color=label.color,
            description=label.description,
            priority=label.priority,
            of_group=of_group or not label.is_project_label,
        )
        for label in labels
    ]


def milestone_records(milestones: Sequence[GitLabMilestone]) -> list[MilestoneRecord]:
    """Build the records of milestones."""
    return [
        MilestoneRecord(
            key=str(milestone.id),
            iid=milestone.iid,
            title=milestone.title,
            description=milestone.description,
            state=milestone.state,
            start_date=milestone.start_date,
            due_date=milestone.due_date,
            created_at=milestone.created_at,
            updated_at=milestone.updated_at,
            of_group=milestone.group_id is not None,
        )
        for milestone in milestones
    ]


def board_records(boards: Sequence[GitLabBoard]) -> list[BoardRecord]:
    """Build the records of boards; lists without a label are not imported."""
    return [
        BoardRecord(
            key=str(board.id),
            name=board.name or "Development",
            lists=[
                BoardListRecord(
                    label=each.label.name,
                    position=each.position or 0,
                    max_issue_count=each.max_issue_count or 0,
                )
                for each in board.lists
                if each.label is not None
            ],
            hide_backlog_list=board.hide_backlog_list,
            hide_closed_list=board.hide_closed_list,
        )
        for board in boards
    ]


def release_records(users: GitLabUsers, releases: Sequence[GitLabRelease], full_path: str) -> list[ReleaseRecord]:
    """Build the records of releases; a link to an upload of the project is a file."""
    return [
        ReleaseRecord(
            tag=release.tag_name,
            name=release.name,
            description=release.description,
            author=users.record_or_none(release.author),
            created_at=release.created_at,
            released_at=release.released_at,
            milestones=[str(milestone.id) for milestone in release.milestones],
            links=[
                ReleaseLinkRecord(
                    key=str(link.id),
                    name=link.name,
                    url=link.url,
                    link_type=link.link_type or "other",
                    file=link.url if f"/{full_path}/uploads/" in link.url else None,
                )
                for link in release.assets.links
            ],
        )
        for release in releases
    ]


def snippet_record(client: SourceClient, users: GitLabUsers, path: str, snippet: GitLabSnippet) -> SnippetRecord:
    """Request the contents, notes and awards of a snippet; ``path`` is that of the list."""
    name = snippet.file_name or (snippet.files[0].path if snippet.files else "snippet.txt")
    files = [
        SnippetFileRecord(path=file.path, content=_content(client, f"{path}/{snippet.id}", file))
        for file in snippet.files
    ]
    content = files[0].content if files else _content(client, f"{path}/{snippet.id}", None)
    targets = [client.target(f"{path}/{snippet.id}/discussions", {"per_page": 100})]
    discussions = client.lists(targets, GitLabDiscussion)[0]
    awards = client.lists([client.target(f"{path}/{snippet.id}/award_emoji", {"per_page": 100})], GitLabAward)[0]
    return SnippetRecord(
        key=str(snippet.id),
        title=snippet.title,
        file_name=name,
        content=content,
        author=users.record(snippet.author),
        description=snippet.description,
        visibility=snippet.visibility,
        created_at=snippet.created_at,
        updated_at=snippet.updated_at,
        files=files if len(files) > 1 else [],
        discussions=discussion_records(users, discussions, {}),
        awards=award_records(users, awards),
    )


def _content(client: SourceClient, path: str, file: GitLabSnippetFile | None) -> str:
    """Return the text of a snippet's file; the branch of its repository is in the file's URL."""
    target = f"{path}/raw"
    if file is not None and "/raw/" in file.raw_url:
        ref = file.raw_url.partition("/raw/")[2].partition("/")[0] or "main"
        target = f"{path}/files/{ref}/{quote(file.path, safe='')}/raw"
    try:
        with client.download(client.url(target)) as opened:
            return _text(opened.read(MAX_SNIPPET_BYTES + 1))
    except StatusError as error:
        if not error.denied or target == f"{path}/raw":
            raise
    with client.download(client.url(f"{path}/raw")) as opened:
        return _text(opened.read(MAX_SNIPPET_BYTES + 1))


def _text(content: bytes) -> str:
    if len(content) > MAX_SNIPPET_BYTES:
        raise SourceError(f"A snippet is larger than {MAX_SNIPPET_BYTES >> 20} MiB")
    return content.decode("utf-8", "replace")
