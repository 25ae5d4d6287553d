"""Templates of the descriptions of issues and merge requests, which are files of a project's default branch."""

from ingot.core.errors import Invalid, NotFound
from ingot.git.core.repository import Repository
from ingot.git.history.commits import commit_id_or_none, decode_text
from ingot.git.trees.blobs import read_small_blob
from ingot.git.trees.entries import FOLDER, LINK, SUBMODULE
from ingot.git.trees.listing import list_tree
from ingot.repositories.templates.queries import Template

MAX_FILES = 1000
"""Maximum number of files of the folder that are read."""
MAX_TEMPLATE_BYTES = 2**20
_SUFFIX = ".md"
DESCRIPTION_FOLDERS = {
    "issues": b".gitlab/issue_templates",
    "merge_requests": b".gitlab/merge_request_templates",
}


def description_templates(repository: Repository, kind: str) -> dict[str, str]:
    """Return the ids of the blobs of all templates of one kind in the default branch, by name."""
    commit = commit_id_or_none(repository, "HEAD")
    page = None if commit is None else list_tree(repository, commit, DESCRIPTION_FOLDERS[kind], 0, MAX_FILES)
    files = [] if page is None else [each for each in page.entries if each.mode not in (FOLDER, LINK, SUBMODULE)]
    blobs = {decode_text(file.name): file.oid for file in files}
    return {name.removesuffix(_SUFFIX): oid for name, oid in blobs.items() if name.endswith(_SUFFIX)}


def find_description_template(repository: Repository, kind: str, name: str) -> Template:
    """Return a template of the default branch; raise NotFound if there is none, and Invalid if it is too long."""
    oid = description_templates(repository, kind).get(name)
    if oid is None:
        raise NotFound("Template")
    content = read_small_blob(repository, oid, MAX_TEMPLATE_BYTES)
    if content is None:
        raise Invalid("400 (Bad request) The template is larger than 1 MB")
    return Template(name, decode_text(content))
