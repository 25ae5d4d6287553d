"""Translation of templates at compile time, so that a page in another language renders as fast as in English.

Templates are written in English. Their texts are the parts between two tags or statements, the values of visible
attributes, and the labels in expressions; ``{}`` stands for each expression in a text.
"""

import re
from collections.abc import Callable
from functools import cached_property

from jinja2.ext import Extension

from ingot.web.formats import count, in_larger_unit, size
from ingot.web.languages import load_catalogue

Translate = Callable[[str], str | None]

_JINJA = r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}"
_PART = re.compile(rf"({_JINJA}|<[a-zA-Z/!](?:{_JINJA}|[^<>{{]|\{{)*>)", re.DOTALL)
_ATTRIBUTE = re.compile(
    r"(?<=\s)(aria-label|placeholder|title|alt|hx-confirm|data-(?:confirm|label|busy|download|fold-all|copied))=\"((?:\{\{.*?\}\}|\{%.*?%\}|[^\"{])*)\"",
    re.DOTALL,
)
_LITERAL = re.compile(r"(?<![=!]= )\"([A-Z][^\"{}<>]*)\"(?! (?:[=!]=|in |not in ))")
_WORD = re.compile(r"[A-Za-z]{2}")
_UNTRANSLATED_TAGS = re.compile(r"</?(code|pre|kbd|script|style)\b")
_ICON = re.compile(r"\{\{-?\s*(ui\.)?icon\(")
_SEPARATOR = " · "
_AMOUNT = re.compile(r"(\d+) (byte|megabyte|second|minute|hour|day|month)s")
_TAIL = (",", ".", ":")
"""Start of texts that continue a sentence of a template."""


def translate_template(source: str, translate: Translate) -> str:
    """Return a template with its texts replaced by those that ``translate`` returns."""
    written: list[str] = []
    segment: list[str] = []
    literal_depth = 0

    def flush() -> None:
        whole = "".join(segment)
        written.append(whole if literal_depth else _translate_text(whole, translate))
        segment.clear()

    for index, part in enumerate(_PART.split(source)):
        if index % 2 == 0:
            segment.append(part)
        elif part.startswith("{{") and not _ICON.match(part):
            segment.append(_translate_literals(part, translate))
        else:
            flush()
            written.append(_translate_tag(part, translate))
            if tag := _UNTRANSLATED_TAGS.match(part):
                literal_depth = max(0, literal_depth + (-1 if tag[0].startswith("</") else 1))
    flush()
    return "".join(written)


def _translate_tag(part: str, translate: Translate) -> str:
    if part.startswith(("{%", "{{")):
        return _translate_literals(part, translate)
    if not part.startswith("<"):
        return part
    return _ATTRIBUTE.sub(lambda found: f'{found[1]}="{translate_template(found[2], translate)}"', part)


def _translate_literals(part: str, translate: Translate) -> str:
    def replace(found: re.Match[str]) -> str:
        label = found[1].strip()
        text = translate(label) if _WORD.search(label) else None
        return found[0] if text is None else f'"{found[1].replace(label, text)}"'

    return part if part.startswith(("{% extends", "{% import", "{% include")) else _LITERAL.sub(replace, part)


def _translate_text(text: str, translate: Translate) -> str:
    pieces = text.split(_SEPARATOR)
    return _SEPARATOR.join(_translate_piece(piece, translate) for piece in pieces)


def _translate_piece(text: str, translate: Translate) -> str:
    """Translate a text without tags; the expressions in it keep their order."""
    expressions = _PART.split(text)[1::2]
    plain = _PART.sub("{}", text) if expressions else text
    key = " ".join(plain.split())
    if not _WORD.search(key.replace("{}", "")):
        return text
    translation = translate(key)
    if translation is None or translation.count("{}") != len(expressions):
        return text
    start, end = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    filled = translation
    for expression in expressions:
        filled = filled.replace("{}", expression, 1)
    return f"{start}{filled}{end}"


class PageLanguage:
    """Texts of the pages in one language; English texts are returned as they are."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._catalogue = load_catalogue(language)

    def translate(self, text: str) -> str:
        """Translate a label or message that comes from Python code; the values in a message stay as they are."""
        translation = self._catalogue.get(text)
        if translation is not None:
            return translation
        for pattern, message in self._messages if text.endswith(".") else ():
            if values := pattern.fullmatch(text):
                return message.format(*(self._catalogue.get(value, value) for value in values.groups()))
        return text

    @cached_property
    def _messages(self) -> list[tuple[re.Pattern[str], str]]:
        """Sentences with values, such as "Title {} is too long."."""
        texts = [text for text in self._catalogue if "{}" in text and text.endswith(".") and not text.startswith(_TAIL)]
        return [(re.compile(re.escape(text).replace(r"\{\}", "(.+)")), self._catalogue[text]) for text in texts]

    def relative_time(self, pattern: str, number: int) -> str:
        """Format a relative time, such as "{} days ago"."""
        return self._catalogue.get(pattern, pattern).format(number)

    def count(self, number: int | None, one: str, several: str = "") -> str:
        """Format a number with its noun in singular or plural."""
        noun = one if number == 1 else several or f"{one}s"
        pattern = self._catalogue.get(f"{{}} {noun}" if number is not None else f"many {noun}")
        if pattern is None:
            return count(number, one, several)
        return pattern.format(f"{number:,}".replace(",", "." if self._language == "de" else ",") if number else number)

    def default(self, text: str) -> str:
        """Return the default of a setting as a page shows it: an amount also in a unit that is easy to read."""
        found = _AMOUNT.fullmatch(text)
        if found is None:
            # "on" is also a preposition.
            return self._catalogue.get(f"Default: {text}") or self.translate(text)
        number, unit = int(found[1]), found[2]
        if unit == "megabyte":
            return f"{number} MB"
        larger, larger_unit = in_larger_unit(number, unit)
        readable = self.decimal(size(number)) if unit == "byte" else self.count(larger, larger_unit)
        return readable if larger_unit == unit and unit != "byte" else f"{number} ({readable})"

    def decimal(self, text: str) -> str:
        """Return a formatted number with the decimal separator of the language."""
        return text.replace(".", ",") if self._language == "de" else text

    def extension(self) -> type[Extension]:
        """Return a Jinja extension that translates each template before it is compiled."""
        catalogue = self._catalogue

        class TemplateTranslation(Extension):
            """Replaces the texts of a template."""

            def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002 - Jinja passes them.
                """Return the translated source."""
                return translate_template(source, catalogue.get)

        return TemplateTranslation
