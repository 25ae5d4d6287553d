"""Pages of the simple repository API, from which pip reads names and files of packages."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from urllib.parse import quote

import msgspec

from ingot.packages.records.tables import Package, PackageFile

_SEPARATORS = re.compile(r"[-_.]+")


def normalized_name(name: str) -> str:
    """Return a name as package managers compare it."""
    return _SEPARATORS.sub("-", name).lower()


def index_page(packages: Iterable[Package], url: str, title: str) -> bytes:
    """Return the page with the names of all packages."""
    names = {package.name_key: package.name for package in packages}
    links = [f'<a href="{escape(url)}/simple/{quote(key)}/">{escape(name)}</a>' for key, name in names.items()]
    return _page(title, links)


def files_page(packages: Mapping[int, Package], files: Iterable[PackageFile], url: str, name: str) -> bytes:
    """Return the page with the files of all versions of a package."""
    links = []
    for file in files:
        properties = msgspec.json.decode(packages[file.package_id].properties, type=dict[str, str])
        requires = properties.get("requires_python", "")
        target = f"{url}/files/{file.sha256}/{quote(file.file_name)}#sha256={file.sha256}"
        links.append(
            f'<a href="{escape(target)}" data-requires-python="{escape(requires)}">{escape(file.file_name)}</a>'
        )
    return _page(name, links)


def _page(title: str, links: list[str]) -> bytes:
    items = "".join(f"    {link}<br>\n" for link in links)
    return (
        '<!DOCTYPE html>\n<html>\n  <head>\n    <meta name="pypi:repository-version" content="1.0">\n'
        f"    <title>Links for {escape(title)}</title>\n  </head>\n  <body>\n    <h1>Links for {escape(title)}</h1>\n"
        f"{items}  </body>\n</html>\n"
    ).encode()
