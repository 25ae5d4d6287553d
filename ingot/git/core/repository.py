"""One repository: what it is asked most often, read with the least effort."""

import os
import secrets
from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.languages import language_shares
from ingot.git.core.layout import sync_folder, write_durably
from ingot.git.core.names import ref_name_error
from ingot.git.core.refs import HEADS, TAGS, has_refs, read_head, read_refs, read_tip_or_none


class Repository:
    """A bare repository; keeps nothing open, so it never shows a past state."""

    __slots__ = ("hidden", "path")

    def __init__(self, path: Path, hidden: tuple[str, ...] = ()) -> None:
        self.path = path
        self.hidden = hidden
        """Where the references lie whose objects nobody gets by an id here, unless others lead to them too."""

    def without(self, *hidden: str) -> "Repository":
        """The same, as whoever may not have the references at these places sees it."""
        return Repository(self.path, hidden)

    def is_empty(self) -> bool:
        """Whether it has neither branches nor tags."""
        return not has_refs(self.path, (HEADS, TAGS))

    def branches_exist(self) -> bool:
        """Whether it has a branch."""
        return has_refs(self.path, (HEADS,))

    def branch_exists(self, name: str) -> bool:
        """Whether it has the branch of this short name."""
        return self.tip(f"refs/heads/{name}") is not None

    def head_branch(self) -> str:
        """The short name of the branch that HEAD points to, also when nobody has pushed it yet."""
        return read_head(self.path).removeprefix(HEADS).decode(errors="replace")

    def set_head(self, branch: str) -> None:
        """Point HEAD to a branch, in one step; readers see the old name or the new one."""
        if ref_name_error(branch) is not None:
            raise ValueError("A branch cannot be called so")
        # Not through HEAD.lock as git does: a crash would leave it, and nobody could change HEAD any more.
        fresh = self.path / f"tmp_HEAD_{secrets.token_hex(8)}"
        write_durably(fresh, f"ref: refs/heads/{branch}\n".encode())
        fresh.rename(self.path / "HEAD")
        sync_folder(self.path)

    def refs(self) -> dict[bytes, str]:
        """All references, the internal ones too, by full name and sorted."""
        return read_refs(self.path)

    def tip(self, ref: str | bytes) -> str | None:
        """The object that a reference points at, by its full name."""
        try:
            raw = ref.encode() if isinstance(ref, str) else ref
        except UnicodeEncodeError:  # A lone surrogate, which JSON can express and no name holds.
            return None
        return read_tip_or_none(self.path, raw)

    def size_bytes(self) -> int:
        """The size of its files; what it shares with forks counts in each."""
        total = 0
        for folder, _, files in os.walk(self.path):
            for file in files:
                try:
                    total += os.lstat(f"{folder}/{file}").st_size
                except FileNotFoundError:  # A push or the housekeeping moved it just now.
                    pass
        return total

    def commit_count(self) -> int:
        """How many commits the default branch has."""
        tip = read_tip_or_none(self.path, read_head(self.path))
        if tip is None:
            return 0
        counted = run_git(["rev-list", "--count", "--use-bitmap-index", tip, "--"], self.path)
        return int(counted.out)

    def languages(self) -> dict[str, float]:
        """The programming languages of the default branch, in percent of their bytes, the largest first."""
        tip = read_tip_or_none(self.path, read_head(self.path))
        return {} if tip is None else language_shares(self.path, tip)
