"""Replacement of external images by links, since pages load nothing from other hosts."""

import re
from html import escape, unescape

_TAG = re.compile(r'<(?:a|img)(?: [^\s=>"]+="[^"]*")*>|</a>')
_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|[/\\]{2}", re.IGNORECASE)
_SOURCE = re.compile(r' src="([^"]*)"')
_ALT_TEXT = re.compile(r' alt="([^"]*)"')


def replace_external_images(html: str, base: str) -> str:
    """Replace each external image in sanitized HTML by a link to it."""
    if "<img" not in html:
        return html
    linked = False

    def replace(match: re.Match[str]) -> str:
        nonlocal linked
        tag = match[0]
        if not tag.startswith("<img"):
            linked = tag != "</a>"
            return tag
        source = _SOURCE.search(tag)
        if source is None or is_local_image(unescape(source[1]), base):
            return tag
        alt = _ALT_TEXT.search(tag)
        text = escape(unescape(alt[1]) if alt else "") or "Image"
        return text if linked else f'<a href="{source[1]}" rel="nofollow noreferrer noopener">{text}</a>'

    return _TAG.sub(replace, html)


def is_local_image(address: str, base: str) -> bool:
    """Return whether the image is served by this host."""
    return address.startswith(f"{base}/") or _EXTERNAL.match(address) is None
