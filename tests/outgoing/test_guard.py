"""SSRF guard: permitted and rejected URLs, in every spelling that has bypassed such guards."""

import socket
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest

from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import OutgoingRules, SsrfGuard
from ingot.core.outgoing.urls import redact_text, redact_url, strip_credentials

PUBLIC, PUBLIC6 = "93.184.216.34", "2606:2800:220:1::1"

LOCAL = [
    "127.0.0.1", "127.1.2.3", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1", "239.1.1.1", "255.255.255.255",
    "240.0.0.1", "168.63.129.16", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:8.8.8.8]",
    "[::127.0.0.1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[64:ff9b::7f00:1]",
    "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[2001:db8::1]", "[0:0:0:0:0:0:0:1]",
    "localhost", "LOCALHOST", "x.localhost", "metadata.google.internal",
]  # fmt: skip
ODD = [
    "0177.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "127.1", "127.0.1", "0", "00", "0x", "0x0",
    "0177.0.0.01", "127.0.0.1.", "127.0.0.01", "1.2.3.4.5", "256.256.256.256", "4294967296", "foo.1", "foo.0x7f",
    "localhost.", "example.com.", ".example.com", "[::1%25lo]", "[::g]", "[1.2.3.4]", "exa mple.com", "example.com\t",
    "１２７.0.0.1", "ⓛocalhost", "bücher.example", "%6cocalhost", "a\\b", "", "[", "[]", "::1",
]  # fmt: skip
ODD_URLS = [
    "file:///etc/passwd", "gopher://example.com", "ftp://example.com", "unix:/run/x", "ext::sh -c id", "example.com",
    "//example.com", "javascript:alert(1)", "", "http:", "http://", "http:/example.com", "http:example.com",
    "http://example.com:0/", "http://example.com:65536/", "http://example.com:99999999/", "http://example.com:x/",
    "http://example.com:/", "http://example.com:80:80/", "http://example.com\r\nHost: x", "http://example.com/a b",
    "http://example.com/\x00", "http://example.com/é", "http://a@b@example.com/", "http://example.com\\@127.0.0.1/",
    " http://example.com", "http://example.com\n", "ht\ntp://example.com", "http://" + "a" * 3000,
]  # fmt: skip


def answering(*addresses: str) -> Callable[..., Any]:
    """Return a resolver with these answers."""
    return lambda _, port, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]


def forbidden_resolver(*_: Any, **__: Any) -> Any:
    """Fail, because nothing must be resolved."""
    raise AssertionError("the name was looked up")


@pytest.mark.parametrize("host", LOCAL + ODD)
def test_local_hosts_are_rejected_without_a_lookup(host: str) -> None:
    """With any scheme and port; adjacent public addresses are permitted."""
    guard = SsrfGuard(resolve=forbidden_resolver)
    for url in (f"http://{host}/", f"https://{host}:8443/x?y", f"http://u:p@{host}/"):
        with pytest.raises(RequestRefused):
            guard.check_url(url, credentials=True)
        with pytest.raises(RequestRefused):
            guard.pin(url, credentials=True)
    guard.check_url("http://example.com/")


@pytest.mark.parametrize("url", ODD_URLS)
def test_rejected_urls(url: str) -> None:
    """They are rejected even if local requests are allowed."""
    for allow_local in (False, True):
        with pytest.raises(RequestRefused):
            SsrfGuard(allow_local, resolve=forbidden_resolver).pin(url)


@pytest.mark.parametrize(
    ("url", "host", "port", "target"),
    [
        ("http://example.com", "example.com", 80, "/"),
        ("HTTPS://EXAMPLE.com:8443/A/b?c=d#e", "example.com", 8443, "/A/b?c=d"),
        ("https://example.com?x", "example.com", 443, "/?x"),
        ("http://xn--bcher-kva.example/%C3%A9", "xn--bcher-kva.example", 80, "/%C3%A9"),
        ("http://my_host-1.example/", "my_host-1.example", 80, "/"),
        ("http://1e100.net:65535", "1e100.net", 65535, "/"),
    ],
)
def test_permitted_urls(url: str, host: str, port: int, target: str) -> None:
    """The host is resolved, and its address is used for the connection."""
    pinned = SsrfGuard(resolve=answering(PUBLIC)).pin(url)
    assert (pinned.host, pinned.port, pinned.address, pinned.target) == (host, port, PUBLIC, target)


@pytest.mark.parametrize(("host", "address"), [(PUBLIC, PUBLIC), (f"[{PUBLIC6}]", PUBLIC6), ("8.8.8.8", "8.8.8.8")])
def test_public_addresses_are_permitted(host: str, address: str) -> None:
    """Without a lookup."""
    pinned = SsrfGuard(resolve=forbidden_resolver).pin(f"http://{host}:81/")
    assert (pinned.host, pinned.address, pinned.port) == (address, address, 81)


@pytest.mark.parametrize(
    "bad", [address.strip("[]") for address in LOCAL if address[0] in "[12"] + ["fe80::1%eth0", "x"]
)
def test_one_local_address_rejects_the_name(bad: str) -> None:
    """Attack: a name with a public and a local address, in either order."""
    for answers in ((bad,), (PUBLIC, bad), (bad, PUBLIC)):
        with pytest.raises(RequestRefused):
            SsrfGuard(resolve=answering(*answers)).pin("http://example.com/")
    assert SsrfGuard(resolve=answering(PUBLIC6, PUBLIC)).pin("http://example.com/").address == PUBLIC6


def test_a_name_is_resolved_once() -> None:
    """Attack: the first answer is public and the second is local."""
    answers = [answering(PUBLIC), answering("127.0.0.1")]
    asked = []

    def changing(host: str, port: int, **options: Any) -> Any:
        asked.append(host)
        return answers.pop(0)(host, port, **options)

    guard = SsrfGuard(resolve=changing)
    guard.check_url("http://rebinding.example/")
    assert asked == []
    assert guard.pin("http://rebinding.example/").address == PUBLIC
    assert asked == ["rebinding.example"]
    with pytest.raises(RequestRefused):
        guard.pin("http://rebinding.example/")


@pytest.mark.parametrize("error", [socket.gaierror(-2, "unknown"), TimeoutError(), UnicodeError("label too long")])
def test_a_failed_lookup_rejects_the_url(error: Exception) -> None:
    """Attack: make the resolver fail, so that nothing is checked."""

    def failing(*_: Any, **__: Any) -> Any:
        raise error

    for resolve in (failing, answering()):
        with pytest.raises(RequestRefused, match="resolved"):
            SsrfGuard(resolve=resolve).pin("http://example.com/")


def test_local_requests_can_be_allowed() -> None:
    """All local addresses, or some networks; addresses of cloud metadata only by name."""
    lenient = SsrfGuard(allow_local=True, resolve=answering("127.0.0.1"))
    for host in ("127.0.0.1", "10.0.0.1", "[::1]", "[fd00::1]", "192.168.0.1"):
        assert lenient.pin(f"http://{host}:8080/").address == host.strip("[]")
    assert lenient.pin("http://localhost/").address == "127.0.0.1"
    for host in (
        "169.254.169.254",
        "0.0.0.0",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "224.0.0.1",
        "0x7f.1",
        "localhost.",
    ):
        with pytest.raises(RequestRefused):
            lenient.pin(f"http://{host}/")

    some = SsrfGuard(
        allowed=[ip_network("10.1.0.0/16"), ip_network("169.254.169.254/32")], resolve=answering("10.1.2.3")
    )
    assert some.pin("http://intranet.example/").address == "10.1.2.3"
    assert some.pin("http://169.254.169.254/").address == "169.254.169.254"
    for host in ("10.2.0.1", "127.0.0.1", "[::ffff:10.1.0.1]", "0x0a.1.0.1"):
        with pytest.raises(RequestRefused):
            some.pin(f"http://{host}/")


def test_only_imports_may_carry_credentials() -> None:
    """They are removed before the connection."""
    guard = SsrfGuard(resolve=answering(PUBLIC))
    url = "https://ada:p%40ss%2Fword@example.com/x.git"
    with pytest.raises(RequestRefused):
        guard.check_url(url)
    guard.check_url(url, credentials=True)
    assert strip_credentials(url) == ("https://example.com/x.git", "ada", "p@ss/word")
    assert strip_credentials("http://token@example.com/") == ("http://example.com/", "token", "")
    assert strip_credentials("http://example.com/a@b") == ("http://example.com/a@b", "", "")
    with pytest.raises(RequestRefused):
        strip_credentials("ftp://a:b@example.com/")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ada:secret@example.com/x", "https://*****:*****@example.com/x"),
        ("https://secret@example.com", "https://*****:*****@example.com"),
        ("https://example.com/@scope/x", "https://example.com/@scope/x"),
        ("https://ada:se/cret@example.com/x", "https://*****:*****@example.com/x"),
        ("https://ada:se@cret@example.com/x", "https://*****:*****@example.com/x"),
        ("ftp://ada:secret@example.com", "ftp://*****:*****@example.com"),
        ("https://example.com/?private_token=secret&x=1", "https://example.com/?private_token=*****&x=1"),
    ],
)
def test_urls_are_shown_without_secrets(url: str, shown: str) -> None:
    """Invalid ones included."""
    assert redact_url(url) == shown


def test_texts_are_shown_without_secrets() -> None:
    """In every spelling."""
    secret = 'p@ss/w"rd é'
    text = (
        f'fatal: {secret} | p%40ss%2Fw%22rd%20%C3%A9 | p%40ss%2Fw%22rd+%C3%A9 | p@ss/w\\"rd \\u00e9 | '
        "unable to access 'https://ada:other@example.com/x' | Authorization: Basic YWRhOm90aGVy | Bearer abc.def"
    )
    shown = redact_text(text, [secret, "", "rd"])
    for part in ("p@ss", "p%40ss", "other", "YWRh", "abc.def", "ada", "rd"):
        assert part not in shown
    assert "fatal: *****" in shown
    assert "example.com/x" in shown
    assert redact_text("nothing to hide", []) == "nothing to hide"


@pytest.mark.parametrize(
    ("rules", "permitted"),
    [
        (OutgoingRules(), []),
        (OutgoingRules(allow_local=True), ["10.0.0.1", "192.168.0.1", "git.example.com", "localhost"]),
        (OutgoingRules(allow_local_from_system_hooks=True), []),
        (OutgoingRules(networks=(ip_network("10.0.0.0/8"),)), ["10.0.0.1", "git.example.com"]),
        (OutgoingRules(hosts=frozenset({"git.example.com"})), ["git.example.com"]),
        (OutgoingRules(hosts=frozenset({"git.example.com:80"})), ["git.example.com"]),
        (OutgoingRules(hosts=frozenset({"git.example.com:81"})), []),
        (OutgoingRules(allow_local=True, hosts=frozenset({"localhost"}), only_listed=True), ["localhost"]),
        (OutgoingRules(allow_local=True, silent=True), []),
    ],
)
def test_rules_of_administrators(rules: OutgoingRules, permitted: list[str]) -> None:
    guard = SsrfGuard(resolve=answering("10.1.1.1"), rules=lambda: rules)
    hosts = ["10.0.0.1", "192.168.0.1", "169.254.169.254", "git.example.com", "localhost"]

    assert [host for host in hosts if _is_permitted(guard, host)] == permitted


def test_system_hooks_have_a_rule_of_their_own() -> None:
    guard = SsrfGuard(rules=lambda: OutgoingRules(allow_local_from_system_hooks=True))

    assert not _is_permitted(guard, "10.0.0.1")
    assert _is_permitted(guard.for_system_hooks(), "10.0.0.1")


def _is_permitted(guard: SsrfGuard, host: str) -> bool:
    try:
        guard.pin(f"http://{host}/")
    except RequestRefused:
        return False
    return True
