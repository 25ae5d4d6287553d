"""Diffs without changes of white space, computed from the lines of the whole diff."""

from difflib import SequenceMatcher

_MAX_COMPARISONS = 250_000
"""Pairs of lines that are compared in one block; larger blocks are shown as they are."""


def without_whitespace_changes(diff: str) -> str:
    """Return a patch in which lines that differ only in white space are unchanged; empty if no change is left."""
    begins = 0 if diff.startswith("@@") else diff.find("\n@@") + 1
    if not begins and not diff.startswith("@@"):
        return diff
    lines: list[str] = []
    removed: list[str] = []
    added: list[str] = []
    for line in diff[begins:].split("\n"):
        sign = line[:1]
        if sign == "+":
            added.append(line[1:])
        elif sign == "-" and not added:
            removed.append(line[1:])
        else:
            lines += _block(removed, added)
            removed, added = ([line[1:]], []) if sign == "-" else ([], [])
            lines += [] if sign == "-" else [line]
    lines += _block(removed, added)
    return diff[:begins] + "\n".join(lines) if any(line[:1] in ("+", "-") for line in lines) else ""


def _block(removed: list[str], added: list[str]) -> list[str]:
    """Return the lines of a block; an unchanged line is shown as in the new file."""
    if not removed or not added or len(removed) * len(added) > _MAX_COMPARISONS:
        return [f"-{line}" for line in removed] + [f"+{line}" for line in added]
    old, new = (["".join(line.split()) for line in lines] for lines in (removed, added))
    lines: list[str] = []
    for kind, first, last, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [f" {line}" for line in added[start:stop]]
        else:
            lines += [f"-{line}" for line in removed[first:last]] + [f"+{line}" for line in added[start:stop]]
    return lines
