"""HTML sanitizer, the last step of rendering: only the tags and attributes listed here remain."""

import re

from ingot.core.markup.links import DATA, LinkContext

MAX_TAGS = 5_000
"""Texts with more HTML tags show them as text, because deep nesting is expensive to parse."""

_TAGS = set(
    """
    a abbr b blockquote br code dd del details dfn div dl dt em figcaption figure font h1 h2 h3 h4 h5 h6 hr i img input
    ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot
    th thead tr tt u ul var
    """.split()  # noqa: SIM905 - A list of sixty words is more readable as text.
)
_ALIGNED = ("div", "h1", "h2", "h3", "h4", "h5", "h6", "img", "p", "table", "td", "th", "tr")
_OWN = {"class", "id", *(f"data-{name}" for name in DATA), "data-reference-type", "data-sourcepos", "color"}
_ATTRIBUTES: dict[str, set[str]] = {
    "*": {*_OWN, "title", "lang", "dir", "aria-hidden", "aria-label"},
    **{tag: {"align"} for tag in _ALIGNED},
    "a": {"href"},
    "details": {"open"},
    "font": {"color"},
    "img": {"src", "alt", "width", "height", "align"},
    "input": {"checked"},
    "li": {"value"},
    "ol": {"start", "reversed"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan", "scope"},
}
# Every input becomes a disabled checkbox, so that nothing except task lists looks like a form.
_FIXED = {"input": {"type": "checkbox", "disabled": "disabled"}}
_SCHEMES = {"http", "https", "mailto", "ftp", "ssh", "git", "irc", "ircs", "tel", "xmpp"}
_HTML = re.compile("<(?=input)", re.IGNORECASE)


def escape_inputs(html: str) -> str:
    """Escape ``<input>`` tags in HTML written by users."""
    return _HTML.sub("&lt;", html)


def sanitize_html(html: str, link_context: LinkContext, marker: str) -> str:
    """Return the safe parts of HTML.

    ``marker`` is a random prefix of the attribute values that only the renderer may set; others are removed.
    """
    import nh3

    def filter_attribute(element: str, attribute: str, value: str) -> str | None:
        if attribute in _OWN:
            return value.replace(marker, "") if value.startswith(marker) else None
        if attribute == "href":
            return link_context.link(value)
        if attribute == "src":
            return link_context.image(value) if element == "img" else None
        return value

    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=filter_attribute,
        url_schemes=_SCHEMES,
        link_rel="nofollow noreferrer noopener",
        set_tag_attribute_values=_FIXED,
        strip_comments=True,
    )
