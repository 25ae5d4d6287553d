"""The first commit of a project that is not to begin empty."""

from ingot.git.commits import NO_OID, Signature
from ingot.git.faults import GitFailed
from ingot.git.repository import Repository
from ingot.git.updating import RefUpdate, update_refs
from ingot.git.writing import Action, CannotApply, Words, commit_actions

FIRST_MESSAGE = "Initial commit"


def begin_with_readme(
    repository: Repository, branch: str, name: str, description: str, author: Signature
) -> RefUpdate | None:
    """Commit a README to a new repository that no row names yet; nothing where that fails, and it stays empty."""
    text = f"# {name}\n\n{description}\n" if description else f"# {name}\n"
    readme = Action("create", "README.md", content=text.encode())
    try:
        commit = commit_actions(repository, None, [readme], Words(FIRST_MESSAGE, author, author))
        update = RefUpdate(f"refs/heads/{branch}", NO_OID, commit)
        update_refs(repository, [update])
    except (OSError, GitFailed, CannotApply):
        return None
    return update
