"""The ``Repository`` class with the reads that most requests need."""

import os
import secrets
from pathlib import Path

from ingot.core.other_sources import note_source
from ingot.core.storage.folders import sync_folder
from ingot.git.core.history_counts import count_history
from ingot.git.core.languages import language_shares
from ingot.git.core.layout import write_durably
from ingot.git.core.names import ref_name_error
from ingot.git.core.ref_store import RefStore
from ingot.git.core.refs import HEADS, NOTES, TAGS, has_more_refs_than, has_refs, read_head, read_refs, read_tip_or_none


class Repository:
    """A bare repository. Holds nothing open, so it never shows a stale state."""

    __slots__ = ("hidden", "key", "max_refs", "path", "ref_store")

    def __init__(
        self,
        path: Path,
        hidden: tuple[str, ...] = (),
        key: str = "",
        max_refs: int = 0,
        ref_store: RefStore | None = None,
    ) -> None:
        note_source("repository")
        self.path = path
        self.key = key
        """Its key if it can be moved to another storage; empty where there is only one."""
        self.hidden = hidden
        """Prefixes of hidden refs: their objects cannot be read by id unless a branch or tag also reaches them."""
        self.max_refs = max_refs
        """Maximum number of branches, tags and notes; 0 means no limit."""
        self.ref_store = ref_store
        """Place of the refs if the directory is only a copy of a repository in a bucket."""

    def without(self, *hidden: str) -> "Repository":
        """Return this repository as seen by a caller who must not see the refs with these prefixes."""
        return Repository(self.path, hidden, self.key, self.max_refs, self.ref_store)

    def is_empty(self) -> bool:
        """Return whether it has neither branches nor tags."""
        return not has_refs(self.path, (HEADS, TAGS))

    def branches_exist(self) -> bool:
        """Return whether it has any branch."""
        return has_refs(self.path, (HEADS,))

    def branch_exists(self, name: str) -> bool:
        """Return whether it has a branch of this short name."""
        return self.tip(f"refs/heads/{name}") is not None

    def head_branch(self) -> str:
        """Return the short name of the branch that HEAD points at; the branch may not exist yet."""
        return read_head(self.path).removeprefix(HEADS).decode(errors="replace")

    def set_head(self, branch: str) -> None:
        """Point HEAD at a branch atomically: readers see the old name or the new one."""
        if ref_name_error(branch) is not None:
            raise ValueError("A branch cannot be called so")
        if self.ref_store is not None:
            self.ref_store.set_head(branch)
            return
        # Not through HEAD.lock as git does: a crash would leave the lock file and block all later changes.
        temporary = self.path / f"tmp_HEAD_{secrets.token_hex(8)}"
        write_durably(temporary, f"ref: refs/heads/{branch}\n".encode())
        temporary.rename(self.path / "HEAD")
        sync_folder(self.path)

    def refs(self) -> dict[bytes, str]:
        """Return all refs, including internal ones, by full name and sorted."""
        return read_refs(self.path)

    def ref_limit_error(self, added: int = 0) -> str | None:
        """Return the reason why it must not have so many refs besides its current ones, or None."""
        allowed = self.max_refs - added
        if not self.max_refs or (allowed >= 0 and not has_more_refs_than(self.path, (HEADS, TAGS, NOTES), allowed)):
            return None
        return f"A repository may have {self.max_refs:,} branches and tags at most."

    def tip(self, ref: str | bytes) -> str | None:
        """Return the object that a ref points at, by its full name, or None."""
        try:
            raw = ref.encode() if isinstance(ref, str) else ref
        except UnicodeEncodeError:  # A lone surrogate, which JSON can express but no ref name contains.
            return None
        return read_tip_or_none(self.path, raw)

    def size_bytes(self) -> int:
        """Return the size of its files; objects shared with forks count in each repository."""
        total = 0
        for folder, _, files in os.walk(self.path):
            for file in files:
                try:
                    total += os.lstat(f"{folder}/{file}").st_size
                except FileNotFoundError:  # A push or housekeeping has just moved it.
                    pass
        return total

    def commit_count(self) -> int:
        """Return the number of commits on the default branch."""
        tip = read_tip_or_none(self.path, read_head(self.path))
        if tip is None:
            return 0
        return count_history(self.path, tip)

    def languages(self) -> dict[str, float]:
        """Return the programming languages of the default branch in percent of their bytes, largest first."""
        tip = read_tip_or_none(self.path, read_head(self.path))
        return {} if tip is None else language_shares(self.path, tip)
