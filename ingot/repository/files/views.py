"""How files are shown."""

from base64 import b64encode
from hashlib import sha256

from ingot.api.views import View
from ingot.git.blame import Blamed
from ingot.git.blobs import digest_of
from ingot.git.commits import Commit, decoded
from ingot.git.lastcommit import last_commit_id
from ingot.repository.commits.views import shown_time
from ingot.repository.contents import Header, header_value
from ingot.repository.files.queries import File

_PROGRAM = 0o100755
_NOTHING = sha256(b"").hexdigest()


class FileView(View):
    """A file with its content in Base64."""

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


_TOLD = {name: name.replace("_", "-").encode() for name in FileView.__struct_fields__ if name != "content"}


class BlamedCommitView(View):
    """A commit as the lines show it that came with it."""

    id: str
    parent_ids: list[str]
    message: str
    authored_date: str
    author_name: str
    author_email: str
    committed_date: str
    committer_name: str
    committer_email: str


class BlamedLinesView(View):
    """Lines that follow each other and came with one commit."""

    commit: BlamedCommitView
    lines: list[str]


def file_view(file: File, ref: str) -> FileView:
    """A file; the content of a large one is left empty."""
    return FileView(
        file_name=decoded(file.entry.name),
        file_path=decoded(file.entry.path),
        size=file.blob.size,
        encoding="base64",
        content_sha256=_digest(file),
        ref=ref,
        blob_id=file.entry.oid,
        commit_id=file.commit,
        last_commit_id=last_commit_id(file.repository, file.commit, file.entry.path),
        execute_filemode=file.entry.mode == _PROGRAM,
        content=b64encode(file.blob.body or b"").decode(),
    )


def file_headers(file: File, ref: str) -> tuple[Header, ...]:
    """What is known of a file, for callers who want no content; the digest of a large one would take too long."""
    shown: dict[bytes, object] = {
        b"blob-id": file.entry.oid,
        b"commit-id": file.commit,
        b"encoding": "base64",
        b"execute-filemode": file.entry.mode == _PROGRAM,
        b"file-name": decoded(file.entry.name),
        b"file-path": decoded(file.entry.path),
        b"last-commit-id": last_commit_id(file.repository, file.commit, file.entry.path),
        b"ref": ref,
        b"size": file.blob.size,
    }
    if file.blob.body is not None:
        shown[b"content-sha256"] = _digest(file)
    return _headers(shown)


def view_headers(view: FileView) -> tuple[Header, ...]:
    """All that a view tells but the content itself."""
    return _headers({header: getattr(view, name) for name, header in _TOLD.items()})


def _digest(file: File) -> str:
    # The id of a submodule is that of a commit elsewhere, and says nothing of its content here.
    return _NOTHING if file.is_module else digest_of(file.blob)


def _headers(shown: dict[bytes, object]) -> tuple[Header, ...]:
    return tuple((b"x-gitlab-" + name, header_value(value)) for name, value in shown.items())


def blamed_views(blamed: list[Blamed], commits: dict[str, Commit]) -> list[BlamedLinesView]:
    """The lines of a file, grouped by the commits that they came with."""
    shown = {oid: _commit_view(commit) for oid, commit in commits.items()}
    return [BlamedLinesView(shown[part.commit], [decoded(line) for line in part.lines]) for part in blamed]


def _commit_view(commit: Commit) -> BlamedCommitView:
    return BlamedCommitView(
        id=commit.oid,
        parent_ids=list(commit.parents),
        message=commit.message,
        authored_date=shown_time(commit.author),
        author_name=commit.author.name,
        author_email=commit.author.email,
        committed_date=shown_time(commit.committer),
        committer_name=commit.committer.name,
        committer_email=commit.committer.email,
    )
