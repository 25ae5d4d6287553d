"""Labels of all pages: headings, buttons, field labels, table headers and options of the templates."""

import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
CATALOGUE = Path(__file__).parent / "labels.txt"
_LABEL_TAGS = {"h1", "h2", "h3", "h4", "label", "legend", "button", "th", "dt", "option", "summary", "caption", "title"}
_VOID_TAGS = {"input", "br", "img", "hr", "meta", "link"}
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)


class _LabelParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._open: list[tuple[str, list[str]]] = []
        self.labels: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_button = tag == "a" and "button" in (dict(attrs).get("class") or "").split()
        if (tag in _LABEL_TAGS or is_button) and tag not in _VOID_TAGS:
            self._open.append((tag, []))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1][0] == tag:
            text = " ".join("".join(self._open.pop()[1]).split())
            if re.search(r"[A-Za-z]{2}", text.replace("{}", "")):
                self.labels.add(text)

    def handle_data(self, data: str) -> None:
        for _, text in self._open:
            text.append(data)


def template_labels() -> set[str]:
    """Return the text of every label in the templates, with ``{}`` for expressions."""
    return {label for path in _templates() for label in _labels(path.read_text())}


def _labels(template: str) -> set[str]:
    # Alternatives such as {% if new %}Create{% else %}Save{% endif %} are separate labels.
    parser = _LabelParser()
    parser.feed(_EXPRESSION.sub("{}", _STATEMENT.sub(" | ", template)))
    parts = {part.strip() for label in parser.labels for part in unescape(label).split(" | ")}
    return {part for part in (part.strip("| ") for part in parts) if re.search(r"[A-Za-z]{2}", part)}


def _templates() -> Iterator[Path]:
    yield from sorted((ROOT / "ingot" / "web" / "templates").rglob("*.html"))


if __name__ == "__main__":
    CATALOGUE.write_text("".join(f"{label}\n" for label in sorted(template_labels())))
