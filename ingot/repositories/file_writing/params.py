"""What callers send to write files."""

from ingot.core.api.params import Params, RawText
from ingot.repositories.commit_writing.params import CommitMessageText, Encoding


class CreateFile(Params):
    """A new file; ``start_branch`` says where a branch begins that is not there yet."""

    branch: str
    content: RawText
    commit_message: CommitMessageText
    encoding: Encoding = "text"
    start_branch: str | None = None
    author_email: str | None = None
    author_name: str | None = None
    execute_filemode: bool | None = None


class UpdateFile(CreateFile):
    """A new content for a file; where the last commit that changed it is another one, it is refused."""

    last_commit_id: str | None = None


class DeleteFile(Params):
    """Which branch a file is deleted from."""

    branch: str
    commit_message: CommitMessageText
    start_branch: str | None = None
    author_email: str | None = None
    author_name: str | None = None
    last_commit_id: str | None = None
