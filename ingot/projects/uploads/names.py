"""File names of uploads, safe on disk, in URLs and in Markdown, for all scripts."""

import unicodedata

MAX_NAME_BYTES = 255
_ALLOWED_CHARACTERS = frozenset("_.-+")
_ALLOWED_CATEGORIES = frozenset({"Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "So"})
# Browsers display these types without executing anything; all other types are only offered as downloads.
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
    """Return the name without path, leading dots, and characters with a meaning in shells or Markdown."""
    base_name = name.replace("\\", "/").rpartition("/")[2]
    sanitized = "".join(
        character if _is_allowed(character) else "_" for character in unicodedata.normalize("NFC", base_name)
    ).lstrip(".")
    return _truncate_name(sanitized) or "unnamed"


def is_image(name: str) -> bool:
    """Check whether a file is displayed inline."""
    return _extension(name) in _IMAGE_TYPES


def file_stem(name: str) -> str:
    """Return the name without its extension."""
    return name.rpartition(".")[0] or name


def inline_content_type(name: str) -> str | None:
    """Return the content type with which a browser may display the file, or None if it must be downloaded."""
    extension = _extension(name)
    return "text/plain; charset=utf-8" if extension in _TEXT_EXTENSIONS else _IMAGE_TYPES.get(extension)


def _is_allowed(character: str) -> bool:
    return character in _ALLOWED_CHARACTERS or unicodedata.category(character) in _ALLOWED_CATEGORIES


def _truncate_name(name: str) -> str:
    """Shorten a name to the limit of file systems, keeping its extension and whole characters."""
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension.encode()) > MAX_NAME_BYTES // 4:
        stem, dot, extension = name, "", ""
    stem_bytes = MAX_NAME_BYTES - len(f"{dot}{extension}".encode())
    return stem.encode()[:stem_bytes].decode(errors="ignore") + dot + extension


def _extension(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""
