"""Bar charts of ratios as SVG, for documents."""

from collections.abc import Sequence
from html import escape

_ROW, _LABELS, _BARS, _TOP = 18, 220, 460, 56
_WIDTH = _LABELS + _BARS + 70


def ratio_chart(title: str, note: str, ratios: Sequence[tuple[str, float]]) -> str:
    """Return a chart with one bar for each ratio and a line at 1; longer bars than 2 are cut."""
    height = _TOP + _ROW * len(ratios) + 24
    one = _LABELS + _BARS / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="22" font-size="15" font-weight="600" fill="#1f2328">{escape(title)}</text>',
        f'<text x="12" y="42" fill="#59636e">{escape(note)}</text>',
    ]
    for index, (name, ratio) in enumerate(ratios):
        y = _TOP + _ROW * index
        length = _BARS * min(ratio, 2) / 2
        color = "#1a7f5a" if ratio <= 1 else "#bc4c00"
        parts += [
            f'<text x="{_LABELS - 8}" y="{y + 12}" text-anchor="end" fill="#1f2328">{escape(name)}</text>',
            f'<rect x="{_LABELS}" y="{y + 3}" width="{length:.1f}" height="{_ROW - 6}" rx="2" fill="{color}"/>',
            f'<text x="{_LABELS + length + 5:.1f}" y="{y + 12}" fill="#59636e">{ratio:.2f}</text>',
        ]
    bottom = _TOP + _ROW * len(ratios)
    parts.append(f'<line x1="{one}" y1="{_TOP - 4}" x2="{one}" y2="{bottom}" stroke="#59636e" stroke-dasharray="3 3"/>')
    parts.append(f'<text x="{one}" y="{bottom + 14}" text-anchor="middle" fill="#59636e">1</text>')
    return "\n".join([*parts, "</svg>", ""])
