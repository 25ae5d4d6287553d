"""Response structs and headers of files."""

from base64 import b64encode
from hashlib import sha256

from msgspec import UNSET, UnsetType

from ingot.accounts.users.commit_addresses import is_bot_address
from ingot.core.api.views import View
from ingot.core.http.request import Header
from ingot.git.history.blame import BlameChunk
from ingot.git.history.commits import Commit, decode_text
from ingot.git.history.last_commit import last_commit_id
from ingot.git.trees.blobs import content_digest
from ingot.repositories.commits.views import signature_time
from ingot.repositories.content import header_value
from ingot.repositories.files.queries import RepositoryFile

_EXECUTABLE_MODE = 0o100755
_EMPTY_SHA256 = sha256(b"").hexdigest()


class FileView(View):
    """A file with its content in base64."""

    file_name: str
    file_path: str
    size: int
    encoding: str
    content_sha256: str
    ref: str
    blob_id: str
    commit_id: str
    last_commit_id: str
    execute_filemode: bool
    content: str


class BlamedCommitView(View):
    """A commit in the blame of a file."""

    id: str
    parent_ids: list[str]
    message: str
    authored_date: str
    author_name: str
    author_email: str
    committed_date: str
    committer_name: str
    committer_email: str
    bot: bool | UnsetType = UNSET
    """Whether a bot is the author or the committer; absent from commits of people."""


class BlamedLinesView(View):
    """Consecutive lines last changed by the same commit."""

    commit: BlamedCommitView
    lines: list[str]


def file_view(file: RepositoryFile, ref: str) -> FileView:
    """Return the view of a file; the content of a large file is left empty and streamed later."""
    entry, blob = file.entry, file.blob
    return FileView(
        file_name=decode_text(entry.name),
        file_path=decode_text(entry.path),
        size=blob.size,
        encoding="base64",
        content_sha256=_digest(file),
        ref=ref,
        blob_id=entry.oid,
        commit_id=file.commit,
        last_commit_id=last_commit_id(file.repository, file.commit, entry.path),
        execute_filemode=entry.mode == _EXECUTABLE_MODE,
        content=b64encode(blob.body or b"").decode(),
    )


def file_headers(file: RepositoryFile, ref: str) -> tuple[Header, ...]:
    """Return a file's metadata as headers; the digest of a large file is left out, since it would take too long."""
    entry, blob = file.entry, file.blob
    headers = (
        (b"x-gitlab-blob-id", entry.oid.encode()),
        (b"x-gitlab-commit-id", file.commit.encode()),
        (b"x-gitlab-encoding", b"base64"),
        (b"x-gitlab-execute-filemode", b"true" if entry.mode == _EXECUTABLE_MODE else b"false"),
        (b"x-gitlab-file-name", header_value(decode_text(entry.name))),
        (b"x-gitlab-file-path", header_value(decode_text(entry.path))),
        (b"x-gitlab-last-commit-id", last_commit_id(file.repository, file.commit, entry.path).encode()),
        (b"x-gitlab-ref", header_value(ref)),
        (b"x-gitlab-size", b"%d" % blob.size),
    )
    return headers if blob.body is None else (*headers, (b"x-gitlab-content-sha256", _digest(file).encode()))


def view_headers(view: FileView) -> tuple[Header, ...]:
    """Return a view's metadata as headers; written out, since a loop over the fields takes twice as long."""
    return (
        (b"x-gitlab-file-name", header_value(view.file_name)),
        (b"x-gitlab-file-path", header_value(view.file_path)),
        (b"x-gitlab-size", b"%d" % view.size),
        (b"x-gitlab-encoding", view.encoding.encode()),
        (b"x-gitlab-content-sha256", view.content_sha256.encode()),
        (b"x-gitlab-ref", header_value(view.ref)),
        (b"x-gitlab-blob-id", view.blob_id.encode()),
        (b"x-gitlab-commit-id", view.commit_id.encode()),
        (b"x-gitlab-last-commit-id", view.last_commit_id.encode()),
        (b"x-gitlab-execute-filemode", b"true" if view.execute_filemode else b"false"),
    )


def _digest(file: RepositoryFile) -> str:
    # The id of a submodule is a commit of another repository; there is no content to hash.
    return _EMPTY_SHA256 if file.is_submodule else content_digest(file.blob)


def blame_views(chunks: list[BlameChunk], commits: dict[str, Commit]) -> list[BlamedLinesView]:
    """Return the views of a file's lines grouped by the commit that last changed them."""
    views = {oid: _commit_view(commit) for oid, commit in commits.items()}
    return [BlamedLinesView(views[part.commit], [decode_text(line) for line in part.lines]) for part in chunks]


def _commit_view(commit: Commit) -> BlamedCommitView:
    return BlamedCommitView(
        id=commit.oid,
        parent_ids=list(commit.parents),
        message=commit.message,
        authored_date=signature_time(commit.author),
        author_name=commit.author.name,
        author_email=commit.author.email,
        committed_date=signature_time(commit.committer),
        committer_name=commit.committer.name,
        committer_email=commit.committer.email,
        bot=True if is_bot_address(commit.author.email) or is_bot_address(commit.committer.email) else UNSET,
    )
