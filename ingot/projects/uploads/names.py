"""What uploaded files are called: names that are safe on a disk, in a URL and in Markdown, in any language."""

import unicodedata

MOST_BYTES = 255
_KEPT = frozenset("_.-+")
_KEPT_CATEGORIES = frozenset({"Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "So"})
# Browsers show these in a page without running anything; all others are only ever downloaded.
_PICTURES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "ico": "image/x-icon",
}
_TEXTS = frozenset({"txt", "text", "log", "md"})


def tidied(name: str) -> str:
    """The name without a path, without leading dots, and without what means something to a shell or in Markdown."""
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(sign if _is_kept(sign) else "_" for sign in unicodedata.normalize("NFC", last)).lstrip(".")
    return _shortened(kept) or "unnamed"


def is_picture(name: str) -> bool:
    """Whether it is shown where it is mentioned."""
    return _ending(name) in _PICTURES


def stem_of(name: str) -> str:
    """The name without its ending."""
    return name.rpartition(".")[0] or name


def shown_as(name: str) -> str | None:
    """The content type under which a browser may show it; nothing where it may not."""
    ending = _ending(name)
    return "text/plain; charset=utf-8" if ending in _TEXTS else _PICTURES.get(ending)


def _is_kept(sign: str) -> bool:
    return sign in _KEPT or unicodedata.category(sign) in _KEPT_CATEGORIES


def _shortened(name: str) -> str:
    """At most as long as file systems take, with its ending kept; no character is cut in two."""
    if len(name.encode()) <= MOST_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending.encode()) > MOST_BYTES // 4:
        stem, dot, ending = name, "", ""
    room = MOST_BYTES - len(f"{dot}{ending}".encode())
    return stem.encode()[:room].decode(errors="ignore") + dot + ending


def _ending(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""
