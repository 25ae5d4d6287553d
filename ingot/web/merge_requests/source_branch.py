"""Source branch of a merge request, and the git commands to work on it."""

import shlex

import msgspec

from ingot.projects.projects.views import ProjectView


class SourceBranch(msgspec.Struct, frozen=True):
    """Branch of the target project or of a fork."""

    branch: str
    project: ProjectView | None
    """None if the project is deleted or the viewer may not see it; the two cases must be indistinguishable."""
    own: bool = False
    """True if the branch is in the target project."""
    branch_exists: bool = True
    address: str = "<URL of the fork>"
    """Clone URL of the fork, if the viewer may see it."""

    @property
    def name(self) -> str:
        """Return the name of the branch relative to the target project."""
        if self.own:
            return self.branch
        return f"{self.project.path_with_namespace}:{self.branch}" if self.project else self.branch

    def commands(self, target: str) -> list[str]:
        """Return the git commands that merge the target branch and push the resolved conflicts."""
        branch, target_ref = shlex.quote(self.branch), shlex.quote(f"origin/{target}")
        if self.own:
            fetch = ["git fetch origin", f"git checkout -B {branch} {shlex.quote(f'origin/{self.branch}')}"]
            return [*fetch, f"git merge {target_ref}", f"git push origin {branch}"]
        address = shlex.quote(self.address) if self.project else self.address
        fetch = ["git fetch origin", f"git fetch {address} {branch}"]
        push = f"git push {address} {shlex.quote(f'HEAD:{self.branch}')}"
        return [*fetch, "git checkout FETCH_HEAD", f"git merge {target_ref}", push]
