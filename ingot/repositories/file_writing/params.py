"""Request parameters of the endpoints that write files."""

from ingot.core.api.params import Params, RawText
from ingot.repositories.commit_writing.params import CommitMessageText, Encoding


class CreateFile(Params):
    """A new file; ``start_branch`` is the start of a branch that does not exist yet."""

    branch: str
    content: RawText
    commit_message: CommitMessageText
    encoding: Encoding = "text"
    start_branch: str | None = None
    author_email: str | None = None
    author_name: str | None = None
    execute_filemode: bool | None = None


class UpdateFile(CreateFile):
    """New content of a file; refused if ``last_commit_id`` is not the last commit that changed the file."""

    last_commit_id: str | None = None


class DeleteFile(Params):
    """Branch and commit message of a deletion."""

    branch: str
    commit_message: CommitMessageText
    start_branch: str | None = None
    author_email: str | None = None
    author_name: str | None = None
    last_commit_id: str | None = None
