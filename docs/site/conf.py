"""Settings of Sphinx for the documentation site, built from ``docs/`` and from the OpenAPI document."""

import json
import subprocess
import sys
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))
from api_reference import write_api_reference

project = "Ingot"
version = release = version_of("ingot-forge")
html_title = f"Ingot {version}"
html_theme = "furo"
html_favicon = "../../ingot/web/static/ingot.svg"
html_copy_source = False
extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["site"]
suppress_warnings = ["misc.highlighting_failure"]  # Blocks marked as HTTP show requests in short, without headers.


def _write_generated_pages(app: Sphinx) -> None:
    """Write the pages that are not in the repository: the API reference and the changelog."""
    folder = Path(app.srcdir, "generated")
    document = subprocess.run([Path(sys.executable).with_name("ingot"), "openapi"], check=True, stdout=subprocess.PIPE)
    write_api_reference(json.loads(document.stdout), folder / "api")
    changelog = Path(app.srcdir, "..", "CHANGELOG.md").read_text()
    (folder / "changelog.md").write_text(changelog.replace("](docs/", "](../"))


def _link_changelog(_: Sphinx, __: str, source: list[str]) -> None:
    """Let links to the changelog lead to its page in the site."""
    source[0] = source[0].replace("../CHANGELOG.md)", "generated/changelog.md)")


def setup(app: Sphinx) -> None:
    """Register the steps of the build."""
    app.connect("builder-inited", _write_generated_pages)
    app.connect("source-read", _link_changelog)
