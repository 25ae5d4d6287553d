"""Queries of templates, read from the files of this package on first use.

Names in requests are keys of the loaded templates; they never become paths.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound

TemplateKind = Literal["gitignores", "gitlab_ci_ymls", "dockerfiles"]
T = TypeVar("T")

_TEMPLATE_FOLDER = Path(__file__).parent / "texts"
_FILES: dict[TemplateKind, str] = {"gitignores": "*.gitignore", "gitlab_ci_ymls": "*.yml", "dockerfiles": "*.txt"}
_KIND_NAMES: dict[TemplateKind, str] = {
    "gitignores": "Gitignore",
    "gitlab_ci_ymls": "Gitlab CI Yml",
    "dockerfiles": "Dockerfile",
}
# Each publisher uses its own placeholders.
_PLACEHOLDERS = re.compile(
    r"(?P<year>\[year\]|\[yyyy\]|<year>)"
    r"|(?P<fullname>\[fullname\]|\[name of copyright owner\]|<name of author>)"
    r"|(?P<project>\[project\]|<program>|<one line to give the program's name and a brief idea of what it does\.>)"
)


class Template(msgspec.Struct, frozen=True):
    """Template of a repository file."""

    name: str
    content: str


class License(msgspec.Struct, frozen=True, kw_only=True):
    """A license with its conditions, permissions and limitations in the words of the specification."""

    key: str
    name: str
    nickname: str | None = None
    popular: bool = False
    source_url: str
    description: str
    conditions: tuple[str, ...]
    permissions: tuple[str, ...]
    limitations: tuple[str, ...]
    content: str


@lru_cache(maxsize=len(_FILES))
def _template_files(kind: TemplateKind) -> dict[str, Path]:
    """Return the files of a kind by the names of the templates, which contain the folder."""
    folder = _TEMPLATE_FOLDER / kind
    names = {file.relative_to(folder).as_posix().removesuffix(file.suffix): file for file in folder.rglob(_FILES[kind])}
    return dict(sorted(names.items(), key=lambda item: item[0].casefold()))


@lru_cache(maxsize=64)
def _template(kind: TemplateKind, name: str) -> Template:
    return Template(name, _template_files(kind)[name].read_text(encoding="utf-8"))


@cache
def _licenses() -> dict[str, License]:
    folder = _TEMPLATE_FOLDER / "licenses"
    entries = tomllib.loads((folder / "licenses.toml").read_text(encoding="utf-8"))
    texts = {key: (folder / f"{key}.txt").read_text(encoding="utf-8") for key in entries}
    return {
        key: msgspec.convert({**entry, "key": key, "content": texts[key]}, License) for key, entry in entries.items()
    }


def list_templates(kind: TemplateKind, page: Page) -> Listing[str]:
    """List a page of the names of one kind; parts of configurations, which only files include, are left out."""
    names = [name for name in _template_files(kind) if "/" not in name or name.startswith("Pages/")]
    return page_of(names, page)


def find_template(kind: TemplateKind, name: str) -> Template:
    """Return the template with this name; raise NotFound otherwise."""
    if name not in _template_files(kind):
        raise NotFound(_KIND_NAMES[kind])
    return _template(kind, name)


def template_names(kind: TemplateKind) -> list[str]:
    """Return the names of all templates of one kind."""
    return list(_template_files(kind))


def list_licenses(page: Page, *, popular: bool) -> Listing[License]:
    """List a page of the licenses, or of the popular ones, by key."""
    return page_of([each for each in _licenses().values() if each.popular or not popular], page)


def find_license(key: str) -> License:
    """Return the license with this key, case-insensitively; raise NotFound otherwise."""
    template = _licenses().get(key.lower())
    if template is None:
        raise NotFound("License")
    return template


def fill_license(template: License, now: Timestamp, *, fullname: str, project: str) -> License:
    """Return the license with the current year and the given names; empty names leave their placeholders."""
    values = {"year": now[:4], "fullname": fullname, "project": project}

    def fill(placeholder: re.Match[str]) -> str:
        return values[placeholder.lastgroup or ""] or placeholder[0]

    return msgspec.structs.replace(template, content=_PLACEHOLDERS.sub(fill, template.content))


def page_of(items: Sequence[T], page: Page) -> Listing[T]:
    """Return a page of items that are all in memory."""
    start = (page.number - 1) * page.size
    return Listing(list(items[start : start + page.size]), page, len(items))
