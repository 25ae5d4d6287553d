"""Word-level differences between two lines, and their markup in highlighted HTML."""

import re
from difflib import SequenceMatcher

_WORD = re.compile(r"\w+|\s+|.")
_MARKUP = re.compile(r"(<[^>]*>|&[^;]+;)")
_MAX_LENGTH = 400
_MAX_WORDS = 80
_MIN_SIMILARITY = 0.35
"""Lines with a lower similarity are treated as unrelated, not as one changed line."""

Span = tuple[int, int]


def changed_words(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """Return the spans of characters that differ in each line; empty if the lines have too little in common."""
    if old == new or max(len(old), len(new)) > _MAX_LENGTH:
        return [], []
    before, after = _WORD.findall(old), _WORD.findall(new)
    if max(len(before), len(after)) > _MAX_WORDS:
        return [], []
    start = _matching_blocks(before, after)
    end = _matching_blocks(before[start:][::-1], after[start:][::-1])
    alike = sum(map(len, before[:start])) + sum(map(len, before[len(before) - end :]))
    inner = before[start : len(before) - end], after[start : len(after) - end]
    matcher = SequenceMatcher(None, *inner, autojunk=False)
    blocks = matcher.get_matching_blocks()
    alike += sum(len(word) for block in blocks for word in inner[0][block.a : block.a + block.size])
    if alike < _MIN_SIMILARITY * max(len(old), len(new)):
        return [], []
    codes = matcher.get_opcodes()
    return (
        _spans(before, start, [(code[1], code[2]) for code in codes if code[0] != "equal"]),
        _spans(after, start, [(code[3], code[4]) for code in codes if code[0] != "equal"]),
    )


def _matching_blocks(before: list[str], after: list[str]) -> int:
    count = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        count += 1
    return count


def _spans(words: list[str], offset: int, ranges: list[Span]) -> list[Span]:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return [(offsets[offset + start], offsets[offset + end]) for start, end in ranges if end > start]


def mark_spans(html: str, spans: list[Span], tag: str = "b") -> str:
    """Wrap the characters of the spans in an element, without splitting existing tags."""
    if not spans:
        return html
    out: list[str] = []
    at = 0
    for piece in _MARKUP.split(html):
        if piece.startswith("<"):
            out.append(piece)
            continue
        length = 1 if piece.startswith("&") and piece.endswith(";") and len(piece) > 1 else len(piece)
        out.append(_marked_piece(piece, at, at + length, spans, tag))
        at += length
    return "".join(out)


def _marked_piece(piece: str, start: int, end: int, spans: list[Span], tag: str) -> str:
    inside = [(max(start, left), min(end, right)) for left, right in spans if left < end and right > start]
    if not inside:
        return piece
    if end - start != len(piece):  # A character reference, which is one character.
        return f"<{tag}>{piece}</{tag}>"
    out, position = [], start
    for left, right in inside:
        out += [piece[position - start : left - start], f"<{tag}>", piece[left - start : right - start], f"</{tag}>"]
        position = right
    return "".join([*out, piece[position - start :]])
