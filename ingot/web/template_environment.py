"""Jinja environment of the pages, and the compiled templates that all workers share."""

from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined

from ingot.core.db.times import Timestamp
from ingot.web import formats
from ingot.web.bidi import mark_bidi_in_text
from ingot.web.files.static import versioned_url

if TYPE_CHECKING:
    from jinja2.bccache import Bucket


class CompiledTemplates(BytecodeCache):
    """Code of the templates, in memory; templates never change while a process runs."""

    def __init__(self) -> None:
        self._code: dict[str, CodeType] = {}

    def load_bytecode(self, bucket: "Bucket") -> None:
        """Set the code of a template, if it is compiled."""
        bucket.code = self._code.get(bucket.key)

    def dump_bytecode(self, bucket: "Bucket") -> None:
        """Store the code of a template."""
        if bucket.code is not None:
            self._code[bucket.key] = bucket.code


_compiled = CompiledTemplates()


def compile_templates() -> None:
    """Compile all templates; called before the workers are forked, so that they share the code."""
    environment = template_environment(lambda: Timestamp(""))
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)


def template_environment(clock: Callable[[], Timestamp]) -> Environment:
    """Return a new environment with the filters and functions of the pages."""
    environment = Environment(
        loader=PackageLoader("ingot.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_compiled,
    )
    filters: dict[str, Callable[..., Any]] = {
        "ago": lambda stamp: formats.ago(stamp, clock()),
        "exactly": formats.exact_time,
        "size": formats.size,
        "count": formats.count,
        "with_query": formats.with_query,
        "initials": formats.initials,
        "pretty": formats.pretty_json,
        "local": formats.local_url,
        "visible": mark_bidi_in_text,
    }
    environment.filters |= filters
    environment.globals["static"] = versioned_url
    return environment
