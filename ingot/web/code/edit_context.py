"""Context of an edit in the browser: path, branch, current content and write permission."""

import codecs
from typing import Literal, NamedTuple
from urllib.parse import quote

from ingot.core.errors import NotFound
from ingot.repositories import browser
from ingot.repositories.branches import api as branches_api
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.web.code.file_kinds import file_content
from ingot.web.code.location import CodeLocation, code_location_in, readable_code
from ingot.web.code.trees import find_last_commit
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, project_context

WriteAccess = Literal["may", "protected", "reader", "archived", "no_branch"]


class FileDraft(NamedTuple):
    """File or folder to be changed."""

    parent: ProjectContext
    branch: str
    path: str
    exists: bool
    """True if the branch exists; the first commit of a repository creates it."""
    write_access: WriteAccess
    """Permission of the user to write, or the reason why not."""
    proposed: str
    """Proposed branch for the commit."""
    body: bytes | None = None
    text: str | None = None
    last_commit_id: str = ""

    @property
    def may_write(self) -> bool:
        """Return whether to show the form; for a protected branch it asks for another branch."""
        return self.write_access in ("may", "protected")

    def below(self, name: str) -> str:
        """Return the path of an entry of this folder."""
        name = name.strip().strip("/")
        return f"{self.path}/{name}" if self.path else name

    def address(self, page: str, path: str) -> str:
        """Return the URL of a page on this branch."""
        return f"{self.parent.url}/-/{page}/{quote(self.branch)}" + (f"/{quote(path)}" if path else "")


def find_draft(visit: Visit, *, needs_file: bool) -> FileDraft:
    """Return the draft for the path and branch of the URL; an empty repository starts with a first file."""
    return find_draft_at(project_context(visit), visit.request.path["rest"].strip("/"), needs_file=needs_file)


def find_draft_at(parent: ProjectContext, rest: str, *, needs_file: bool) -> FileDraft:
    """Return the draft for a branch and a path, which ``rest`` contains one after the other."""
    code = readable_code(parent)
    try:
        location = code_location_in(parent, code, rest)
    except NotFound:
        if not parent.project.empty_repo or needs_file:
            raise
        write_access: WriteAccess = "may" if parent.may(commit_writing_api.create_commit) else "reader"
        return FileDraft(parent, rest, "", False, write_access, rest)
    write_access = _write_access(parent, location.ref) if location.branch else "no_branch"
    proposed = location.ref if write_access == "may" else _proposed_branch(location)
    draft = FileDraft(parent, location.ref, location.path, True, write_access, proposed)
    return _with_text(draft, location, needs_file=needs_file)


def _with_text(draft: FileDraft, location: CodeLocation, *, needs_file: bool) -> FileDraft:
    try:
        file = browser.read_file(location.repository, location.commit, location.path) if location.path else None
    except NotFound:
        file = None
    if file is None:
        if needs_file:
            raise NotFound("File")
        return draft
    content = file_content(file)
    return draft._replace(
        body=file.body,
        text=content.text if content.kind == "text" else None,
        last_commit_id=find_last_commit(location).id,
    )


def _write_access(parent: ProjectContext, branch: str) -> WriteAccess:
    if not parent.may(commit_writing_api.create_commit):
        return "archived" if parent.project.archived else "reader"
    return "may" if parent.ask(branches_api.get_branch, branch=branch).can_push else "protected"


def _proposed_branch(location: CodeLocation) -> str:
    """Return an unused branch name."""
    user = location.parent.visit.viewer.user
    stem = f"{user.username if user else 'anonymous'}-patch"
    return browser.free_branch_name(location.repository, stem, range(1, 50))


def encode_like(before: bytes, text: str) -> bytes:
    """Encode a text like the original file: with its line endings, byte order mark and encoding."""
    text = text.replace("\r\n", "\n")
    if b"\r\n" in before:
        text = text.replace("\n", "\r\n")
    mark = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
    try:
        before.decode()
    except UnicodeDecodeError:
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:
            return text.encode()
    return mark + text.encode()
