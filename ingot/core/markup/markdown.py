"""Rendering of Markdown: short texts in the calling process, code blocks and long texts in rendering processes."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.core.markup.highlighting import highlight_blocks
from ingot.core.markup.links import LinkContext, ReferenceResolver
from ingot.core.markup.render_budget import RenderBudget
from ingot.core.markup.render_messages import CodeBlock, MarkdownTask, RestructuredTextTask
from ingot.core.markup.render_pool import POOL, RendererUnavailable, RenderLimitExceeded
from ingot.core.markup.renderer import MAX_LENGTH, preformatted, render_text

MAX_LOCAL_LENGTH = 4_000
"""Longer texts are rendered in another process."""
_CPU_SECONDS = 0.5
_CPU_SECONDS_PER_CHARACTER = 10e-6
"""More than the usual effort, up to 8 µs per character for tables of links."""
_RST_CPU_SECONDS = 3.0
"""Includes the import of docutils by a process that renders its first text."""
_RST_CPU_SECONDS_PER_CHARACTER = 50e-6
MAX_RESTRUCTURED_LENGTH = 200_000
"""Longer files are shown as source."""
_FENCES = ("```", "~~~")


class RenderedMarkdown(NamedTuple):
    """A text as HTML."""

    html: str
    lasting: bool
    """False if rendering was not possible at the moment, so that the result must not be cached."""


def render(
    text: str, link_context: LinkContext, resolve: ReferenceResolver | None = None, budget: RenderBudget | None = None
) -> str:
    """Return a text as HTML; without ``resolve``, references are not linked."""
    return render_markdown(text, link_context, resolve, budget).html


def render_markdown(
    text: str, link_context: LinkContext, resolve: ReferenceResolver | None = None, budget: RenderBudget | None = None
) -> RenderedMarkdown:
    """Render a text as HTML, without colors or as it was written if it exceeds a limit or the ``budget``."""
    if len(text) > MAX_LENGTH:
        return RenderedMarkdown(preformatted(text), lasting=True)
    if budget is not None and not budget.take(len(text)):
        return RenderedMarkdown(preformatted(text), lasting=False)
    if len(text) > MAX_LOCAL_LENGTH:
        return _render_long_text(text, link_context, resolve, budget)
    lasting = True

    def highlight(blocks: Sequence[CodeBlock]) -> list[str]:
        nonlocal lasting
        highlighted = highlight_blocks(blocks)
        lasting = highlighted.lasting
        return highlighted.html

    return RenderedMarkdown(render_text(text, link_context, resolve, highlight), lasting)


def render_restructured_text(text: str, link_context: LinkContext) -> RenderedMarkdown | None:
    """Render a file in reStructuredText as HTML; None if it cannot be rendered within its limits."""
    if len(text) > MAX_RESTRUCTURED_LENGTH:
        return None
    task = RestructuredTextTask(_RST_CPU_SECONDS + _RST_CPU_SECONDS_PER_CHARACTER * len(text), text, link_context)
    try:
        return RenderedMarkdown(POOL.render(task, None), lasting=True)
    except (RenderLimitExceeded, RendererUnavailable):  # The pool has logged it; the source is shown.
        return None


def _render_long_text(
    text: str, link_context: LinkContext, resolve: ReferenceResolver | None, budget: RenderBudget | None
) -> RenderedMarkdown:
    cpu_seconds = _CPU_SECONDS + _CPU_SECONDS_PER_CHARACTER * len(text)
    has_code = any(fence in text for fence in _FENCES)
    for highlights in (True, False) if has_code else (False,):
        task = MarkdownTask(cpu_seconds, text, link_context, resolve is not None, highlights)
        try:
            return RenderedMarkdown(POOL.render(task, resolve), lasting=True)
        except RenderLimitExceeded:  # The pool has logged it; the code in the text may be the reason.
            continue
        except RendererUnavailable:  # Likewise.
            if budget is not None:
                budget.postponed = True
            return RenderedMarkdown(preformatted(text), lasting=False)
    return RenderedMarkdown(preformatted(text), lasting=True)
