"""Names of browsers and systems, from the User-Agent headers of sessions."""

import re

_BROWSERS = (
    ("Edg", "Edge"),
    ("EdgiOS", "Edge"),
    ("OPR", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Firefox", "Firefox"),
    ("HeadlessChrome", "Chrome"),
    ("Chrome", "Chrome"),
    ("Version", "Safari"),
    ("curl", "curl"),
    ("git", "git"),
)
"""Product in the header and name of the browser; most headers also name browsers that they resemble, which follow."""
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_MAX_LENGTH = 500


def describe_user_agent(header: str | None) -> str:
    """Return the browser and the system, such as "Firefox 128 on Linux"; the header itself if it is unknown."""
    text = (header or "")[:_MAX_LENGTH]
    if not text:
        return "Unknown browser"
    browser = next((named for product, name in _BROWSERS if (named := _version(text, product, name))), "")
    system = next((name for word, name in _SYSTEMS if word in text), "")
    if not browser:
        return text
    return f"{browser} on {system}" if system else browser


def _version(text: str, product: str, name: str) -> str:
    match = re.search(rf"\b{product}/(\d{{1,5}})", text)
    return f"{name} {match[1]}" if match else ""
