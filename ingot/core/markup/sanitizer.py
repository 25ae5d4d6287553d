"""The last step before HTML leaves the room: only what we listed stays, whatever came before."""

import re

from ingot.core.markup.links import DATA, LinkContext

MAX_TAGS = 5_000
"""A text with more HTML than this in it shows its tags instead: deep nesting costs the parser too much."""

_TAGS = set(
    """
    a abbr b blockquote br code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img input ins
    kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot th
    thead tr tt u ul var
    """.split()  # noqa: SIM905 - A list of sixty words reads better so.
)
_ALIGNED = ("div", "h1", "h2", "h3", "h4", "h5", "h6", "img", "p", "table", "td", "th", "tr")
_OWN = {"class", "id", *(f"data-{name}" for name in DATA), "data-reference-type"}
_ATTRIBUTES: dict[str, set[str]] = {
    "*": {*_OWN, "title", "lang", "dir", "aria-hidden", "aria-label"},
    **{tag: {"align"} for tag in _ALIGNED},
    "a": {"href"},
    "details": {"open"},
    "img": {"src", "alt", "width", "height", "align"},
    "input": {"checked"},
    "li": {"value"},
    "ol": {"start", "reversed"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan", "scope"},
}
# Boxes of task lists are ours; what else may call itself so can be neither ticked nor typed into.
_FIXED = {"input": {"type": "checkbox", "disabled": "disabled"}}
_SCHEMES = {"http", "https", "mailto", "ftp", "ssh", "git", "irc", "ircs", "tel", "xmpp"}
_HTML = re.compile("<(?=input)", re.IGNORECASE)


def escape_inputs(html: str) -> str:
    """HTML that somebody wrote, with their own form fields shown as text."""
    return _HTML.sub("&lt;", html)


def sanitise(html: str, link_context: LinkContext, mark: str) -> str:
    """What is safe of it; ``mark`` begins the attributes that only we may set, and nobody else can know it."""
    import nh3

    def allowed(element: str, attribute: str, value: str) -> str | None:
        if attribute in _OWN:
            return value.replace(mark, "") if value.startswith(mark) else None
        if attribute == "href":
            return link_context.link(value)
        if attribute == "src":
            return link_context.image(value) if element == "img" else None
        return value

    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=allowed,
        url_schemes=_SCHEMES,
        link_rel="nofollow noreferrer noopener",
        set_tag_attribute_values=_FIXED,
        strip_comments=True,
    )
