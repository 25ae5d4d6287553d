"""Templates escape every value that they show."""

from typing import Any

import pytest
from markupsafe import Markup, escape

from ingot.core.db.times import Timestamp
from ingot.web.template_environment import template_environment


class _Safe(str):
    """Text with its own representation in HTML."""

    __slots__ = ()

    def __html__(self) -> str:
        return "<i>safe</i>"


@pytest.mark.parametrize(
    "value", ["", "plain", "<b a='1' c=\"2\">&</b>", "ü<", Markup("<b>"), 12, 1.5, None, True, _Safe("<")]
)
def test_values_are_escaped_in_text_and_in_the_output_of_macros(value: Any) -> None:
    source = "{% macro paragraph(x) %}<p>{{ x }}</p>{% endmacro %}{{ v }}{{ paragraph(v) }}"
    template = template_environment(lambda: Timestamp("")).from_string(source)
    assert template.render(v=value) == f"{escape(value)}<p>{escape(value)}</p>"
