"""Translation of system notes when they are shown; they are stored in English, which clients of the API parse."""

import re
import tomllib
from datetime import datetime
from functools import lru_cache

from ingot.web.languages import DEFAULT_LANGUAGE, TRANSLATIONS

_AND = re.compile(r",? and (?=[@#~!])")
_DUE_DATE = "changed due date to "
_DATE_FORMAT = "%B %d, %Y"


def translate_system_note(text: str, language: str) -> str:
    """Return the Markdown text of a system note in a language; unchanged if it has no translation."""
    if language == DEFAULT_LANGUAGE:
        return text
    conjunction, patterns = _translations(language)
    for pattern, translation in patterns:
        if values := pattern.fullmatch(text):
            parts = (_AND.sub(f" {conjunction} ", value) for value in values.groups())
            return translation.format(*((_iso_date(value) for value in parts) if text.startswith(_DUE_DATE) else parts))
    return text


@lru_cache(maxsize=8)
def _translations(language: str) -> tuple[str, list[tuple[re.Pattern[str], str]]]:
    """Return the word for "and", and the texts; those with more words first, because a value may contain any text."""
    texts: dict[str, str] = tomllib.loads((TRANSLATIONS / f"system_notes.{language}.toml").read_text())
    conjunction = texts.pop("and")
    longest_first = sorted(texts, key=len, reverse=True)
    return conjunction, [
        (re.compile(re.escape(text).replace(r"\{\}", "(.*)"), re.DOTALL), texts[text]) for text in longest_first
    ]


def _iso_date(value: str) -> str:
    """Return the date of a note in the form that pages use in all languages."""
    try:
        return datetime.strptime(value, _DATE_FORMAT).date().isoformat()
    except ValueError:  # A note of another server.
        return value
