"""Writing files over the API, each in a commit of its own."""

from ingot.api.routes import Routes, Stage
from ingot.git.writing import Action
from ingot.repository.filing.params import CreateFile, DeleteFile, UpdateFile
from ingot.repository.filing.views import WrittenFileView, written_file_view
from ingot.repository.making.content import body_limit, read_content
from ingot.repository.making.work import Edit, FileGone, Said, Start, commit_edits
from ingot.repository.place import Place, may_push_code, place_in_path

routes = Routes("files")


def _write(stage: Stage, place: Place, params: CreateFile | UpdateFile | DeleteFile, edit: Edit) -> WrittenFileView:
    said = Said(params.commit_message, params.author_name or "", params.author_email or "")
    start = Start(params.start_branch or "")
    commit_edits(stage.database, stage.actor, place, params.branch, [edit], said, start=start, may_be_empty=False)
    return written_file_view(edit.action.path, params.branch)


@routes.post(
    "/projects/:id/repository/files/:file_path",
    on=place_in_path,
    may=may_push_code,
    returns=WrittenFileView,
    staged=True,
    conflict=400,
    body_limit=body_limit,
    slashes="file_path",
)
def create_file(stage: Stage, place: Place, params: CreateFile) -> WrittenFileView:
    """Add a file to a branch."""
    content = read_content(params.content, params.encoding, stage.settings.max_file_mb)
    action = Action("create", stage.path["file_path"], content=content, executable=params.execute_filemode)
    return _write(stage, place, params, Edit(action))


@routes.put(
    "/projects/:id/repository/files/:file_path",
    on=place_in_path,
    may=may_push_code,
    returns=WrittenFileView,
    staged=True,
    conflict=400,
    body_limit=body_limit,
    slashes="file_path",
)
def update_file(stage: Stage, place: Place, params: UpdateFile) -> WrittenFileView:
    """Change a file on a branch."""
    content = read_content(params.content, params.encoding, stage.settings.max_file_mb)
    action = Action("update", stage.path["file_path"], content=content, executable=params.execute_filemode)
    return _write(stage, place, params, Edit(action, params.last_commit_id or ""))


@routes.delete(
    "/projects/:id/repository/files/:file_path",
    on=place_in_path,
    may=may_push_code,
    returns=WrittenFileView,
    staged=True,
    conflict=400,
    slashes="file_path",
)
def delete_file(stage: Stage, place: Place, params: DeleteFile) -> WrittenFileView | None:
    """Delete a file from a branch."""
    action = Action("delete", stage.path["file_path"])
    try:
        return _write(stage, place, params, Edit(action, params.last_commit_id or ""))
    except FileGone:
        return None
