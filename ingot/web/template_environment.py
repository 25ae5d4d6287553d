"""Jinja environment of the pages, and the compiled templates, which are stored like those of Python modules."""

import os
import re
import sys
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from pathlib import Path
from pickle import UnpicklingError
from types import CodeType
from typing import TYPE_CHECKING, Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from jinja2.lexer import TOKEN_DATA, Token, TokenStream

from ingot.accounts.appearance.records import Appearance
from ingot.core.db.times import Timestamp
from ingot.repositories.commits.signature_lists import without_signature
from ingot.web import formats
from ingot.web.avatars import avatar_element
from ingot.web.bidi import mark_bidi_in_text
from ingot.web.discussions.note_elements import NoteElements
from ingot.web.display_zone import ago_element, current_zone
from ingot.web.files.static import versioned_url
from ingot.web.form_fields import token_field
from ingot.web.icons import icon_element
from ingot.web.languages import DEFAULT_LANGUAGE, catalogue_version
from ingot.web.live.page_element import live_element
from ingot.web.people import own_avatar, person_element
from ingot.web.rich_titles import title_as_html
from ingot.web.states import state_element, state_icon, visibility_element
from ingot.web.tabs import tab_elements
from ingot.web.translation import PageLanguage

if TYPE_CHECKING:
    from jinja2.bccache import Bucket

_ICON = re.compile(r"\{\{ (?:ui\.)?icon\(\"([a-z-]+)\"(?:, \"([^\"]+)\")?\) \}\}")
_FOLDER = Path(__file__).parent / "templates" / "__pycache__"


class CompiledTemplates(BytecodeCache):
    """Code of the templates in one language, in memory and, where the package can be written, in files."""

    def __init__(self, language: str) -> None:
        self._code: dict[str, CodeType] = {}
        translation = "ascii" if language == DEFAULT_LANGUAGE else f"{language}-{catalogue_version(language)}"
        self._variant = f"{translation}{versioned_url('icons.svg')}"

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the key of a template, which differs by language, version of the translations and of the icons."""
        return super().get_cache_key(f"{self._variant}{name}", filename)

    def load_bytecode(self, bucket: "Bucket") -> None:
        """Set the code of a template, if it was compiled from the same source by the same versions."""
        bucket.code = self._code.get(bucket.key)
        if bucket.code is not None:
            return
        try:
            with self._file(bucket).open("rb") as file:
                bucket.load_bytecode(file)
        except (OSError, EOFError, ValueError, UnpicklingError):  # Not compiled yet, or a damaged file.
            return
        if bucket.code is not None:
            self._code[bucket.key] = bucket.code

    def dump_bytecode(self, bucket: "Bucket") -> None:
        """Store the code of a template."""
        if bucket.code is not None:
            self._code[bucket.key] = bucket.code
        if sys.dont_write_bytecode:
            return
        path = self._file(bucket)
        fresh = path.with_suffix(f".{os.getpid()}")
        try:
            path.parent.mkdir(exist_ok=True)
            with fresh.open("wb") as file:
                bucket.write_bytecode(file)
            fresh.replace(path)
        except OSError:  # The package cannot be written; each start compiles the templates that it uses.
            with suppress(OSError):
                fresh.unlink()

    def _file(self, bucket: "Bucket") -> Path:
        return _FOLDER / f"{bucket.key}.cache"


_compiled = {DEFAULT_LANGUAGE: CompiledTemplates(DEFAULT_LANGUAGE)}


def _compiled_templates(language: str) -> CompiledTemplates:
    if language not in _compiled:
        _compiled[language] = CompiledTemplates(language)
    return _compiled[language]


def compile_templates() -> None:
    """Compile all templates, so that no later start has to do it."""
    environment = template_environment(lambda: Timestamp(""))
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)


class InlineIcons(Extension):
    """Replaces icons with a constant name by their elements before a template is compiled.

    A page has about 40 of them, and each call takes longer than the text that it returns.
    """

    priority = 200
    """After the translation, which reads the calls."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002 - Jinja passes them.
        """Return the source with the elements."""
        return _ICON.sub(lambda match: icon_element(match[1], match[2] or ""), source)


class AsciiText(Extension):
    """Replaces other characters in the texts of a template by their references, which browsers show alike.

    Python joins and encodes a text of ASCII characters by copying it; a single "·" in a title makes it convert the
    whole page character by character, which takes a thirtieth of its time. Other languages have such characters in
    most texts.
    """

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        """Yield the tokens of a template; expressions, whose results are escaped, stay as they are."""
        for token in stream:
            if token.type == TOKEN_DATA and not token.value.isascii():
                text = token.value.encode("ascii", "xmlcharrefreplace").decode()
                yield Token(token.lineno, TOKEN_DATA, text)
            else:
                yield token


class _PageEnvironment(Environment):
    """Environment whose globals are complete before the first template is loaded."""

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return one dictionary: each import compares its keys, which takes ten times as long with a chain of two."""
        return {**self.globals, **(d or {})}


def template_environment(clock: Callable[[], Timestamp], language: str = DEFAULT_LANGUAGE) -> Environment:
    """Return a new environment with the filters and functions of the pages, in one language."""
    words = PageLanguage(language)
    environment = _PageEnvironment(
        loader=PackageLoader("ingot.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_compiled_templates(language),
        extensions=[InlineIcons, AsciiText] if language == DEFAULT_LANGUAGE else [words.extension(), InlineIcons],
    )
    environment.globals["live"] = lambda *subject, **options: live_element(clock(), *subject, **options)
    filters: dict[str, Callable[..., Any]] = {
        "ago": lambda stamp: words.relative_time(*formats.relative_time(stamp, clock())),
        "exactly": lambda stamp: formats.exact_time(stamp, current_zone()),
        "size": lambda number: words.decimal(formats.size(number)),
        "decimal": words.decimal,
        "count": words.count,
        "default_of_setting": words.default,
        "tr": words.translate,
        "duration": formats.duration,
        "with_query": formats.with_query,
        "tone": formats.tone,
        "pretty": formats.pretty_json,
        "without_signature": without_signature,
        "local": formats.local_url,
        "rich_title": title_as_html,
        "visible": mark_bidi_in_text,
    }
    environment.filters |= filters
    environment.globals["static"] = versioned_url
    environment.globals["icon_element"] = icon_element
    environment.globals["ago_element"] = lambda stamp: ago_element(stamp, clock())
    environment.globals["avatar_element"] = avatar_element
    environment.globals["person_element"] = person_element
    environment.globals["own_avatar"] = own_avatar
    environment.globals["state_icon_element"] = state_icon
    environment.globals["state_element"] = state_element
    environment.globals["visibility_element"] = visibility_element
    environment.globals["tab_elements"] = tab_elements
    environment.globals["token_field"] = token_field
    environment.globals["note_elements"] = NoteElements
    environment.globals["language"] = language
    environment.globals["appearance"] = Appearance()
    return environment
