"""Initial commit of a project that starts with a README."""

from ingot.core.log import log_failure
from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, Signature
from ingot.git.writing.commits import CommitMetadata, InvalidAction, TreeAction, commit_actions
from ingot.git.writing.ref_updates import RefUpdate, update_refs

FIRST_COMMIT_MESSAGE = "Initial commit"


def commit_readme(
    repository: Repository, branch: str, name: str, description: str, author: Signature
) -> RefUpdate | None:
    """Commit a README to a new repository; return None, leaving the repository empty, if this fails."""
    text = f"# {name}\n\n{description}\n" if description else f"# {name}\n"
    readme = TreeAction("create", "README.md", content=text.encode())
    try:
        commit = commit_actions(repository, None, [readme], CommitMetadata(FIRST_COMMIT_MESSAGE, author, author))
        update = RefUpdate(f"refs/heads/{branch}", NO_OID, commit)
        update_refs(repository, [update])
    except (OSError, GitError, InvalidAction) as error:
        log_failure("README of a new project not written", error)
        return None
    return update
