"""The branch that a merge request comes from, and what to type to work on it."""

import shlex

import msgspec

from ingot.projects.projects.views import ProjectView


class SourceBranch(msgspec.Struct, frozen=True):
    """A branch of the same project or of a fork."""

    branch: str
    project: ProjectView | None
    """Nothing where it is gone or the visitor may not know of it: both look the same."""
    own: bool = False
    """Whether it is the project that it would be merged into."""
    branch_exists: bool = True
    address: str = "<address of the fork>"
    """Where git reaches it, if it is a fork that the visitor may know of."""

    @property
    def name(self) -> str:
        """How it is called beside the target."""
        if self.own:
            return self.branch
        return f"{self.project.path_with_namespace}:{self.branch}" if self.project else self.branch

    def commands(self, target: str) -> list[str]:
        """What to type to take the target in, and solve what clashes with it."""
        access, there = shlex.quote(self.branch), shlex.quote(f"origin/{target}")
        if self.own:
            begin = ["git fetch origin", f"git checkout -B {access} {shlex.quote(f'origin/{self.branch}')}"]
            return [*begin, f"git merge {there}", f"git push origin {access}"]
        address = shlex.quote(self.address) if self.project else self.address
        begin = ["git fetch origin", f"git fetch {address} {access}"]
        end = f"git push {address} {shlex.quote(f'HEAD:{self.branch}')}"
        return [*begin, "git checkout FETCH_HEAD", f"git merge {there}", end]
