"""Endpoints that write a file, each in one commit."""

from ingot.core.api.routes import Routes, StagedCall
from ingot.git.writing.commits import TreeAction
from ingot.repositories.commit_writing.content import body_limit, decode_content
from ingot.repositories.commit_writing.write import BranchStart, CommitDetails, FileEdit, FileMissing, commit_edits
from ingot.repositories.context import RepositoryContext, may_push_code, repository_in_path
from ingot.repositories.file_writing.params import CreateFile, DeleteFile, UpdateFile
from ingot.repositories.file_writing.views import WrittenFileView, written_file_view

routes = Routes("files")


def _write_file(
    stage: StagedCall, context: RepositoryContext, params: CreateFile | UpdateFile | DeleteFile, edit: FileEdit
) -> WrittenFileView:
    details = CommitDetails(params.commit_message, params.author_name or "", params.author_email or "")
    start = BranchStart(params.start_branch or "")
    # The specification refuses a content that equals the current one; commits of several files may be empty.
    commit_edits(stage.database, stage.actor, context, params.branch, [edit], details, start=start, may_be_empty=False)
    return written_file_view(edit.action.path, params.branch)


@routes.post(
    "/projects/:id/repository/files/:file_path",
    on=repository_in_path,
    may=may_push_code,
    returns=WrittenFileView,
    staged=True,
    conflict=400,
    body_limit=body_limit,
    slashes="file_path",
)
def create_file(stage: StagedCall, context: RepositoryContext, params: CreateFile) -> WrittenFileView:
    """Add a file to a branch."""
    content = decode_content(params.content, params.encoding, stage.settings.max_file_mb)
    action = TreeAction("create", stage.path["file_path"], content=content, executable=params.execute_filemode)
    return _write_file(stage, context, params, FileEdit(action))


@routes.put(
    "/projects/:id/repository/files/:file_path",
    on=repository_in_path,
    may=may_push_code,
    returns=WrittenFileView,
    staged=True,
    conflict=400,
    body_limit=body_limit,
    slashes="file_path",
)
def update_file(stage: StagedCall, context: RepositoryContext, params: UpdateFile) -> WrittenFileView:
    """Change a file on a branch."""
    content = decode_content(params.content, params.encoding, stage.settings.max_file_mb)
    action = TreeAction("update", stage.path["file_path"], content=content, executable=params.execute_filemode)
    return _write_file(stage, context, params, FileEdit(action, params.last_commit_id or ""))


@routes.delete(
    "/projects/:id/repository/files/:file_path",
    on=repository_in_path,
    may=may_push_code,
    returns=WrittenFileView,
    staged=True,
    conflict=400,
    slashes="file_path",
)
def delete_file(stage: StagedCall, context: RepositoryContext, params: DeleteFile) -> WrittenFileView | None:
    """Delete a file from a branch."""
    action = TreeAction("delete", stage.path["file_path"])
    try:
        return _write_file(stage, context, params, FileEdit(action, params.last_commit_id or ""))
    except FileMissing:
        return None
