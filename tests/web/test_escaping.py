"""Templates escape whatever they show, by the quicker way too."""

from typing import Any

import pytest
from jinja2 import DictLoader
from markupsafe import Markup, escape

from ingot.web.escape import FastEscapingEnvironment, escape_value


class _Safe(str):
    """A text that says of itself what it is in HTML."""

    __slots__ = ()

    def __html__(self) -> str:
        return "<i>safe</i>"


@pytest.mark.parametrize(
    "value", ["", "plain", "<b a='1' c=\"2\">&</b>", "ü<", Markup("<b>"), 12, 1.5, None, True, _Safe("<")]
)
def test_the_same_comes_out_as_elsewhere(value: Any) -> None:
    """Whatever is shown, in text and in what macros give."""
    assert escape_value(value) == escape(value)
    templates = {
        "m": "{% macro said(x) %}<p>{{ x }}</p>{% endmacro %}",
        "t": '{% from "m" import said %}{{ v }}{{ said(v) }}',
    }
    environment = FastEscapingEnvironment(autoescape=True, loader=DictLoader(templates))
    assert environment.get_template("t").render(v=value) == f"{escape(value)}<p>{escape(value)}</p>"
