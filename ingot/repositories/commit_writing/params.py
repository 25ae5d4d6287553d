"""Request parameters of the endpoints that create commits."""

from typing import Annotated, Literal

from msgspec import Meta

from ingot.core.api.params import Params, RawText

CommitMessageText = Annotated[str, Meta(max_length=1_000_000)]
Encoding = Literal["text", "base64"]


class FileAction(Params):
    """Action on one file; create and update require ``content``, for a move it is optional."""

    action: Literal["create", "delete", "move", "update", "chmod"]
    file_path: str
    previous_path: str | None = None
    content: RawText | None = None
    encoding: Encoding = "text"
    last_commit_id: str | None = None
    execute_filemode: bool | None = None


class CreateCommit(Params):
    """Commit to a branch; ``start_branch`` or ``start_sha`` is the start of a new branch."""

    branch: str
    commit_message: CommitMessageText
    actions: list[FileAction]
    start_branch: str | None = None
    start_sha: str | None = None
    start_project: str | None = None
    author_email: str | None = None
    author_name: str | None = None
    stats: bool = True
    force: bool = False


class CherryPick(Params):
    """Branch for a cherry-pick; a dry run changes nothing."""

    branch: str
    message: CommitMessageText | None = None
    dry_run: bool = False


class Revert(Params):
    """Branch for a revert; a dry run changes nothing."""

    branch: str
    dry_run: bool = False
