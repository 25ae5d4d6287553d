"""Languages of the pages, their catalogues, and the choice of one for a page.

``translations/<language>.toml`` maps each English text to its translation; a text without an entry stays English.
"""

import tomllib
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from ingot.web.page_routes import Visit

DEFAULT_LANGUAGE = "en"
LANGUAGES = {"en": "English", "de": "Deutsch"}
TRANSLATIONS = Path(__file__).parent / "translations"


def page_language(visit: Visit | None) -> str:
    """Return the language of a page: chosen by the user, preferred by the instance, or preferred by the browser."""
    if visit is None:
        return DEFAULT_LANGUAGE
    chosen = visit.viewer.user.language if visit.viewer.user else None
    if chosen in LANGUAGES:
        return chosen
    preferred = visit.viewer.default_language
    return preferred if preferred != DEFAULT_LANGUAGE else preferred_language(visit.headers.accept_language)


@lru_cache(maxsize=256)
def preferred_language(accept_language: bytes) -> str:
    """Return the language that a browser prefers among those available; English if there is none."""
    choices = []
    for position, part in enumerate(accept_language[:256].decode("latin-1").lower().split(",")):
        tag, _, parameter = part.partition(";")
        language = tag.strip().partition("-")[0]
        if language in LANGUAGES and (quality := _quality(parameter)) > 0:
            choices.append((-quality, position, language))
    return min(choices)[2] if choices else DEFAULT_LANGUAGE


def _quality(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


@lru_cache(maxsize=8)
def load_catalogue(language: str) -> dict[str, str]:
    """Return the translations of a language by their English text."""
    return {} if language == DEFAULT_LANGUAGE else tomllib.loads((TRANSLATIONS / f"{language}.toml").read_text())


@lru_cache(maxsize=8)
def catalogue_version(language: str) -> str:
    """Return a digest of a catalogue, which changes with its content."""
    return blake2b((TRANSLATIONS / f"{language}.toml").read_bytes(), digest_size=8).hexdigest()
