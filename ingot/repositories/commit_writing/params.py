"""What callers send to make commits."""

from typing import Annotated, Literal

from msgspec import Meta

from ingot.core.api.params import Params, RawText

CommitMessageText = Annotated[str, Meta(max_length=1_000_000)]
Encoding = Literal["text", "base64"]


class FileAction(Params):
    """What to do with one file; all but a removal and a change of mode bring its content, and a move may."""

    action: Literal["create", "delete", "move", "update", "chmod"]
    file_path: str
    previous_path: str | None = None
    content: RawText | None = None
    encoding: Encoding = "text"
    last_commit_id: str | None = None
    execute_filemode: bool | None = None


class CreateCommit(Params):
    """A commit upon a branch, or upon where a new branch is to begin."""

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
    """Where a commit is to be done again; a try changes nothing."""

    branch: str
    message: CommitMessageText | None = None
    dry_run: bool = False


class Revert(Params):
    """Where a commit is to be undone; a try changes nothing."""

    branch: str
    dry_run: bool = False
