"""What uploaded files are called: names that are safe on a disk, in a URL and in Markdown, in any language."""

import unicodedata

MAX_NAME_BYTES = 255
_ALLOWED_CHARACTERS = frozenset("_.-+")
_ALLOWED_CATEGORIES = frozenset({"Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "So"})
# Browsers show these in a page without running anything; all others are only ever downloaded.
_IMAGE_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "ico": "image/x-icon",
}
_TEXT_EXTENSIONS = frozenset({"txt", "text", "log", "md"})


def sanitize_file_name(name: str) -> str:
    """The name without a path, without leading dots, and without what means something to a shell or in Markdown."""
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(sign if _is_allowed(sign) else "_" for sign in unicodedata.normalize("NFC", last)).lstrip(".")
    return _truncate_name(kept) or "unnamed"


def is_image(name: str) -> bool:
    """Whether it is shown where it is mentioned."""
    return _extension(name) in _IMAGE_TYPES


def file_stem(name: str) -> str:
    """The name without its ending."""
    return name.rpartition(".")[0] or name


def inline_content_type(name: str) -> str | None:
    """The content type under which a browser may show it; nothing where it may not."""
    ending = _extension(name)
    return "text/plain; charset=utf-8" if ending in _TEXT_EXTENSIONS else _IMAGE_TYPES.get(ending)


def _is_allowed(sign: str) -> bool:
    return sign in _ALLOWED_CHARACTERS or unicodedata.category(sign) in _ALLOWED_CATEGORIES


def _truncate_name(name: str) -> str:
    """At most as long as file systems take, with its ending kept; no character is cut in two."""
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending.encode()) > MAX_NAME_BYTES // 4:
        stem, dot, ending = name, "", ""
    room = MAX_NAME_BYTES - len(f"{dot}{ending}".encode())
    return stem.encode()[:room].decode(errors="ignore") + dot + ending


def _extension(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""
