"""Escaping in templates, including the faster implementation."""

from typing import Any

import pytest
from jinja2 import DictLoader
from markupsafe import Markup, escape

from ingot.web.escape import FastEscapingEnvironment, escape_value


class _Safe(str):
    """Text that declares its own HTML."""

    __slots__ = ()

    def __html__(self) -> str:
        return "<i>safe</i>"


@pytest.mark.parametrize(
    "value", ["", "plain", "<b a='1' c=\"2\">&</b>", "ü<", Markup("<b>"), 12, 1.5, None, True, _Safe("<")]
)
def test_escaping_matches_markupsafe(value: Any) -> None:
    """In text and in the output of macros."""
    assert escape_value(value) == escape(value)
    templates = {
        "m": "{% macro said(x) %}<p>{{ x }}</p>{% endmacro %}",
        "t": '{% from "m" import said %}{{ v }}{{ said(v) }}',
    }
    environment = FastEscapingEnvironment(autoescape=True, loader=DictLoader(templates))
    assert environment.get_template("t").render(v=value) == f"{escape(value)}<p>{escape(value)}</p>"
