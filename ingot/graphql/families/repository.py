"""Repositories: trees, files, branches and commits."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from ingot.accounts.users.commit_addresses import commit_user_ids
from ingot.core.api.routes import RawResponse
from ingot.core.db.paging import Listing
from ingot.core.errors import Failure, NotFound
from ingot.git.core.errors import GitError
from ingot.git.trees.blobs import read_small_blob
from ingot.graphql.connections import ConnectionPage, connection_of, listed, paged
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.loaders import load_users
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import projects_by_ids
from ingot.repositories.commits.views import CommitView
from ingot.repositories.lfs.pointers import MAX_POINTER_BYTES, parse_pointer, pointer_or_none

resolvers = Resolvers()
resolvers.types[CommitView] = "Commit"
resolvers.rename("Commit", sha="id", fullTitle="title")
resolvers.rename("Repository", empty="empty_repo", rootRef="default_branch")
MAX_FILES = 20
"""Files of one request; each is read completely."""
_MAX_TREE_PAGES = 20


class Folder(msgspec.Struct):
    """Entries of a folder at a ref."""

    project: Any
    ref: str
    path: str
    entries: list[Any]


class Entry(msgspec.Struct):
    """An entry of a folder, with the project and ref of its page."""

    project: Any
    ref: str
    entry: Any


@resolvers.value("Repository.exists")
def exists(_: QueryContext, project: Any) -> bool:
    """Return whether the repository has commits."""
    return not project.empty_repo


def _ref(project: Any, arguments: Arguments) -> str:
    return arguments.get("ref") or project.default_branch or "HEAD"


def _tree_params(project: Any, arguments: Arguments) -> dict[str, Any]:
    path = (arguments.get("path") or "").strip("/")
    return {"ref": _ref(project, arguments), "path": path or None, "recursive": arguments.get("recursive")}


@resolvers.single("Repository.tree")
def find_tree(context: QueryContext, project: Any, arguments: Arguments) -> Folder:
    """Return all entries of a folder, up to 2,000."""
    params = {name: value for name, value in _tree_params(project, arguments).items() if value is not None}
    entries: list[Any] = []
    for number in range(1, _MAX_TREE_PAGES + 1):
        page: Listing[Any] = context.call(
            "GET /projects/:id/repository/tree", {**params, "page": number, "per_page": 100}, id=project.id
        )
        entries += page.items
        if len(page.items) < 100:
            break
    return Folder(project, params["ref"], params.get("path", ""), entries)


@resolvers.single("Repository.paginatedTree")
def list_tree(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the entries of a folder."""
    params = {name: value for name, value in _tree_params(project, arguments).items() if value is not None}

    def fetch(number: int, size: int) -> Any:
        route = "GET /projects/:id/repository/tree"
        return context.call(route, {**params, "page": number, "per_page": size}, id=project.id)

    page = paged(fetch, arguments)
    folder = Folder(project, params["ref"], params.get("path", ""), list(page.nodes))
    # As in GitLab, each node of this connection is a tree; all entries of the page are in one.
    return ConnectionPage([folder] if folder.entries else [], page.start, page.total, page.has_next)


def _entries(folder: Folder, kind: str) -> list[Entry]:
    return [Entry(folder.project, folder.ref, entry) for entry in folder.entries if entry.type == kind]


@resolvers.batch("Tree.blobs")
def tree_blobs(_: QueryContext, folders: Sequence[Folder], arguments: Arguments) -> list[ConnectionPage]:
    """Return the files of folders."""
    return [connection_of(_entries(folder, "blob"), arguments) for folder in folders]


@resolvers.batch("Tree.trees")
def tree_trees(_: QueryContext, folders: Sequence[Folder], arguments: Arguments) -> list[ConnectionPage]:
    """Return the folders of folders."""
    return [connection_of(_entries(folder, "tree"), arguments) for folder in folders]


@resolvers.batch("Tree.submodules")
def tree_submodules(_: QueryContext, folders: Sequence[Folder], arguments: Arguments) -> list[ConnectionPage]:
    """Return the submodules of folders."""
    return [connection_of(_entries(folder, "commit"), arguments) for folder in folders]


@resolvers.single("Tree.lastCommit")
def tree_last_commit(context: QueryContext, folder: Folder, _: Arguments) -> Any:
    """Return the last commit that changed a folder."""
    params = {"ref_name": folder.ref, "path": folder.path, "per_page": 1}
    return next(iter(context.call("GET /projects/:id/repository/commits", params, id=folder.project.id).items), None)


@resolvers.single("Repository.lastCommit")
def last_commit(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return the last commit that changed a path."""
    params = {"ref_name": _ref(project, arguments), "path": arguments.get("path") or "", "per_page": 1}
    return next(iter(context.call("GET /projects/:id/repository/commits", params, id=project.id).items), None)


def _entry_field(field: str, attribute: str) -> None:
    @resolvers.value(
        *(f"{kind}.{field}" for kind in ("Blob", "TreeEntry", "Submodule") if kind == "Blob" or field != "mode")
    )
    def entry_field(_: QueryContext, entry: Entry) -> Any:
        """Return a field of an entry."""
        return getattr(entry.entry, attribute)


for _field, _attribute in {
    "flatPath": "path",
    "mode": "mode",
    "name": "name",
    "path": "path",
    "sha": "id",
    "type": "type",
}.items():
    _entry_field(_field, _attribute)


@resolvers.value("Blob.id", "TreeEntry.id", "Submodule.id")
def entry_id(_: QueryContext, entry: Entry) -> str:
    """Return the global id."""
    return to_global_id("Gitlab::Graphql::Representation::TreeEntry", entry.entry.id)


@resolvers.value("Blob.webUrl", "TreeEntry.webUrl")
def entry_url(_: QueryContext, entry: Entry) -> str:
    """Return the address of the page of an entry."""
    kind = "tree" if entry.entry.type == "tree" else "blob"
    return f"{entry.project.web_url}/-/{kind}/{quote(entry.ref)}/{quote(entry.entry.path)}"


@resolvers.value("Blob.webPath", "TreeEntry.webPath")
def entry_path(context: QueryContext, entry: Entry) -> str:
    """Return the path of the page of an entry."""
    return urlsplit(entry_url(context, entry)).path


@resolvers.batch("Blob.lfsOid")
def entry_lfs_oids(context: QueryContext, entries: Sequence[Entry], _: Arguments) -> list[str | None]:
    """Return the ids of the LFS objects that files stand for; null for other files."""
    numbers = sorted({entry.project.id for entry in entries})
    projects = context.read(lambda db: projects_by_ids(db, numbers))
    store = repository_store(context.settings)
    repositories = {number: store.open(project.repository_key) for number, project in projects.items()}
    return [
        parse_pointer(read_small_blob(repositories[entry.project.id], entry.entry.id, MAX_POINTER_BYTES))
        for entry in entries
    ]


class ReadFile(msgspec.Struct):
    """A file of a repository with its content."""

    project: Any
    ref: str
    path: str
    oid: str
    size: int
    mode: str
    content: bytes


@resolvers.single("Repository.blobs")
def list_blobs(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return the named files; files that do not exist are left out."""
    ref = _ref(project, arguments)
    page = connection_of(arguments["paths"][:100], {"first": MAX_FILES} | dict(arguments))
    files = [file for path in page.nodes[:MAX_FILES] if (file := _file_or_none(context, project, ref, path))]
    return ConnectionPage(files, page.start, len(files), page.has_next)


def _file_or_none(context: QueryContext, project: Any, ref: str, path: str) -> ReadFile | None:
    path = path.strip("/")
    try:
        response = context.call(
            "GET /projects/:id/repository/files/:file_path", {"ref": ref}, id=project.id, file_path=path
        )
    except (Failure, GitError):  # No such file, ref or repository: the file is left out.
        return None
    body = response.body if isinstance(response, RawResponse) else b"".join(response.pieces)
    view = msgspec.json.decode(body)
    mode = "100755" if view["execute_filemode"] else "100644"
    return ReadFile(project, ref, path, view["blob_id"], view["size"], mode, b64decode(view["content"]))


@resolvers.value("RepositoryBlob.id")
def blob_id(_: QueryContext, file: ReadFile) -> str:
    """Return the global id."""
    return to_global_id("Blob", file.oid)


@resolvers.value("RepositoryBlob.name")
def blob_name(_: QueryContext, file: ReadFile) -> str:
    """Return the name of the file."""
    return file.path.rpartition("/")[2]


@resolvers.value("RepositoryBlob.size")
def blob_size(_: QueryContext, file: ReadFile) -> int:
    """Return the number of bytes in the repository."""
    return file.size


@resolvers.value("RepositoryBlob.rawSize")
def blob_raw_size(_: QueryContext, file: ReadFile) -> int:
    """Return the number of bytes, for an LFS pointer those of its object."""
    pointer = pointer_or_none(file.content)
    return pointer.size if pointer else file.size


@resolvers.value("RepositoryBlob.lfsOid")
def blob_lfs_oid(_: QueryContext, file: ReadFile) -> str | None:
    """Return the id of the LFS object that a file stands for."""
    return parse_pointer(file.content)


@resolvers.value("RepositoryBlob.storedExternally")
def is_stored_externally(_: QueryContext, file: ReadFile) -> bool:
    """Return whether the content is an LFS object."""
    return parse_pointer(file.content) is not None


@resolvers.value("RepositoryBlob.externalStorage")
def blob_storage(_: QueryContext, file: ReadFile) -> str | None:
    """Return where the content is, if not in the repository."""
    return "lfs" if parse_pointer(file.content) else None


@resolvers.value("RepositoryBlob.rawBlob", "RepositoryBlob.rawTextBlob", "RepositoryBlob.plainData")
def blob_text(_: QueryContext, file: ReadFile) -> str | None:
    """Return the content as text; null for a binary file."""
    if b"\0" in file.content:
        return None
    return file.content.decode("utf-8", "replace")


@resolvers.value("RepositoryBlob.base64EncodedBlob")
def blob_base64(_: QueryContext, file: ReadFile) -> str:
    """Return the content in base64."""
    return b64encode(file.content).decode()


@resolvers.value("RepositoryBlob.webPath")
def blob_path(_: QueryContext, file: ReadFile) -> str:
    """Return the path of the page of a file."""
    return f"{urlsplit(file.project.web_url).path}/-/blob/{quote(file.ref)}/{quote(file.path)}"


@resolvers.value("RepositoryBlob.rawPath")
def blob_raw_path(_: QueryContext, file: ReadFile) -> str:
    """Return the path of the raw file."""
    return f"{urlsplit(file.project.web_url).path}/-/raw/{quote(file.ref)}/{quote(file.path)}"


@resolvers.value("RepositoryBlob.language")
def blob_language(_: QueryContext, __: ReadFile) -> None:
    """Return null: the language of single files is not determined."""
    return


@resolvers.single("Repository.branchNames")
def list_branch_names(context: QueryContext, project: Any, arguments: Arguments) -> list[str]:
    """Return the names of branches that match a pattern such as ``feature-*``."""
    pattern = arguments["searchPattern"].strip("*")
    offset, size = max(0, arguments["offset"]), max(0, min(arguments["limit"], 100))
    params = {"search": pattern} if pattern else {}

    def fetch(number: int, count: int) -> Any:
        route = "GET /projects/:id/repository/branches"
        return context.call(route, {**params, "page": number, "per_page": count}, id=project.id)

    if size == 0:
        return []
    number, skipped = divmod(offset, size)
    names = [branch.name for branch in fetch(number + 1, size).items]
    if skipped:
        names += [branch.name for branch in fetch(number + 2, size).items]
    return names[skipped : skipped + size]


@resolvers.single("Repository.commit")
def find_commit(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return a commit by its id or by a ref."""
    return context.call("GET /projects/:id/repository/commits/:sha", id=project.id, sha=arguments["ref"])


@resolvers.value("Commit.id")
def commit_id(_: QueryContext, commit: Any) -> str:
    """Return the global id."""
    return to_global_id("Commit", commit.id)


@resolvers.value("Commit.description")
def commit_description(_: QueryContext, commit: Any) -> str:
    """Return the message without its first line."""
    return str(commit.message).partition("\n")[2].strip()


@resolvers.value("Commit.descriptionHtml")
def no_value(_: QueryContext, __: Any) -> None:
    """Return null: messages are not rendered."""
    return


@resolvers.batch("Commit.author")
def find_authors(context: QueryContext, commits: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the users with the email addresses of the authors."""
    addresses = [str(commit.author_email).strip().lower() for commit in commits]
    numbers = context.read(lambda db: commit_user_ids(db, addresses))
    users = load_users(context, numbers.values())
    return [users.get(numbers.get(address, 0)) for address in addresses]


def _project_of_commit(context: QueryContext, commit: Any) -> Any:
    number = getattr(commit, "project_id", None)
    if number is not None:
        return number
    path = urlsplit(commit.web_url).path.removeprefix(urlsplit(context.origin.base).path).strip("/")
    for separator in ("/-/commit/", "/commit/"):
        if separator in path:
            return path.rpartition(separator)[0]
    raise NotFound("Project")


@resolvers.single("Commit.pipelines")
def list_commit_pipelines(context: QueryContext, commit: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the pipelines of a commit."""
    params = {"sha": commit.id, "ref": arguments.get("ref"), "status": (arguments.get("status") or "").lower() or None}
    return listed(context, "GET /projects/:id/pipelines", arguments, params, id=_project_of_commit(context, commit))


@resolvers.single("Commit.diffs")
def list_commit_diffs(context: QueryContext, commit: Any, _: Arguments) -> Any:
    """Return the changed files of a commit."""
    path = {"id": _project_of_commit(context, commit), "sha": commit.id}
    response = context.call("GET /projects/:id/repository/commits/:sha/diff", **path)
    return response.items if isinstance(response, Listing) else response
