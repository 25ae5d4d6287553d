"""Responses with the files of sites."""

import gzip
import io
import zipfile

import pytest

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.sites.site import CONFIG, HOST, SiteProject, site_project, site_request

TEXT = b"<p>text</p>" * 100
RULES = b"""# comment
/NAME/old.html /NAME/new.html
/NAME/temporary /NAME/new.html 302
/NAME/news/:year/:month/* /NAME/blog-:year-:month/:splat 301
/NAME/app/* /NAME/app.html 200
/NAME/away https://other.example/:missing/page 302
/NAME/new.html /NAME/elsewhere
relative /x
/NAME/code /x 404
http://HOST/NAME/host/* http://other.example/:splat
"""


@pytest.fixture
def site(make: Make, instance: Instance) -> SiteProject:
    """Return a project with a deployed site."""
    site = site_project(make, instance)
    rules = RULES.replace(b"NAME", site.name.encode()).replace(b"HOST", site.host.encode())
    site.deploy(
        {
            "public/index.html": b"home",
            "public/404.html": b"nothing here",
            "public/new.html": b"new",
            "public/app.html": b"app",
            "public/app/main.js": b"run()",
            "public/text.html": TEXT,
            "public/data.json": b"{}",
            "public/data.json.gz": gzip.compress(b"{}", mtime=0),
            "public/data.json.br": b"brotli",
            "public/large.bin": bytes(range(256)) * 1000,
            "public/sp ace/\u00fc.txt": b"umlaut",
            "public/_redirects": rules,
        }
    )
    return site


def test_paths_name_files_folders_and_pages_without_a_suffix(site: SiteProject) -> None:
    assert site.get("/new.html").content == b"new"
    assert site.get("/new").content == b"new"
    assert site.get("").headers["location"] == f"/{site.name}/"
    assert site.get("/sp%20ace/%C3%BC.txt").content == b"umlaut"
    missing = site.get("/missing")
    assert (missing.status_code, missing.content) == (404, b"nothing here")
    assert missing.headers["content-type"] == "text/html; charset=utf-8"
    assert site.request("POST", f"/{site.name}/").status_code == 405
    assert site.request("HEAD", f"/{site.name}/").headers["content-length"] == "4"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/app/main.js", "text/javascript; charset=utf-8"),
        ("/data.json", "application/json; charset=utf-8"),
        ("/large.bin", "application/octet-stream"),
    ],
)
def test_types_follow_from_names(site: SiteProject, path: str, kind: str) -> None:
    shown = site.get(path)
    assert shown.headers["content-type"] == kind
    assert shown.headers["x-content-type-options"] == "nosniff"


def test_validators_and_ranges(site: SiteProject) -> None:
    whole = site.get("/large.bin")
    assert len(whole.content) == 256_000
    tag = whole.headers["etag"]
    assert site.get("/large.bin", if_none_match=tag).status_code == 304
    part = site.get("/large.bin", range="bytes=254-257")
    assert (part.status_code, part.content) == (206, b"\xfe\xff\x00\x01")
    assert part.headers["content-range"] == "bytes 254-257/256000"
    assert site.get("/large.bin", range="bytes=300000-").status_code == 416
    assert site.get("/text.html", range="bytes=0-2", accept_encoding="gzip").content == b"<p>"


def test_compressed_files_are_sent_as_they_are_stored(site: SiteProject) -> None:
    packed = site.get("/text.html", accept_encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == TEXT
    assert int(packed.headers["content-length"]) < len(TEXT)
    assert packed.headers["etag"] != site.get("/text.html").headers["etag"]
    assert site.get("/data.json", accept_encoding="gzip").content == b"{}"
    with_brotli = site.get("/data.json", accept_encoding="br, gzip", range="bytes=0-0")
    assert "content-encoding" not in with_brotli.headers
    assert "accept-encoding" in packed.headers["vary"]
    large = site.get("/large.bin", accept_encoding="gzip")
    assert "content-encoding" not in large.headers


@pytest.mark.parametrize(
    ("path", "status", "location"),
    [
        ("/old.html", 301, "/{name}/new.html"),
        ("/temporary", 302, "/{name}/new.html"),
        ("/news/2026/11/a/b", 301, "/{name}/blog-2026-11/a/b"),
        ("/news/2026/11", 301, "/{name}/blog-2026-11/"),
        ("/away", 302, "https://other.example//page"),
        ("/host/a", 301, "http://other.example/a"),
    ],
)
def test_rules_redirect(site: SiteProject, path: str, status: int, location: str) -> None:
    shown = site.get(path)
    assert (shown.status_code, shown.headers["location"]) == (status, location.format(name=site.name))


def test_rules_rewrite_paths_but_files_come_first(site: SiteProject) -> None:
    rewritten = site.get("/app/users/7")
    assert (rewritten.status_code, rewritten.content) == (200, b"app")
    assert site.get("/app/main.js").content == b"run()"
    assert site.get("/new.html").content == b"new"
    listed = site.get("/_redirects").text
    assert "9 rules\nrule 1: valid" in listed
    assert "rule 7: error: url path must start with forward slash /" in listed


def test_the_project_of_the_host_is_at_the_root_of_its_namespace(make: Make, instance: Instance) -> None:
    group = make.api.post("/groups", make.root, name="Home group", visibility="public", path=make.name()).json()
    site = site_project(make, instance, CONFIG, namespace_id=group["id"], path=f"{group['path']}.{HOST}")
    site.deploy({"public/index.html": b"home", "public/deep/page.html": b"deep"})
    assert site.request("GET", "/").content == b"home"
    assert site.request("GET", "/deep/page").content == b"deep"


def test_sites_of_subgroups_have_the_whole_path(make: Make, instance: Instance) -> None:
    group = make.api.post("/groups", make.root, name="Outer", visibility="public", path=make.name()).json()
    inner = make.api.post(
        "/groups", make.root, name="Inner", path="inner", visibility="public", parent_id=group["id"]
    ).json()
    site = site_project(make, instance, CONFIG, namespace_id=inner["id"])
    site.deploy({"public/index.html": b"nested"})
    assert site.name.startswith("inner/")
    assert site.get("/").content == b"nested"


def test_hosts_that_are_no_sites_reach_the_forge(make: Make, instance: Instance) -> None:
    for other in ("forge.test", f"not{HOST}"):
        assert site_request(instance.url, "GET", other, "/api/v4/version", {}).status_code == 401
    assert make_project(make).path
    # The host of all sites and absolute names are no other way to the forge.
    for own in (HOST, f"{HOST}.", f"acme.{HOST}.", HOST.upper()):
        for path in ("/api/v4/version", "/users/sign_in", "/-/pages/authorize"):
            hidden = site_request(instance.url, "GET", own, path, {"sec-fetch-mode": "cors"})
            assert (hidden.status_code, "no page at this address" in hidden.text) == (404, True), (own, path)
    unknown = site_request(instance.url, "GET", f"no.such.{HOST}", "/api/v4/version", {"sec-fetch-mode": "cors"})
    assert unknown.status_code == 404
    assert unknown.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", ["/%ff", "/%E9.html", "/docs/%ff/x", "/news/%ff/1/x", "/%ED%A0%80", "/_redirects/%ff"])
def test_paths_that_are_not_text_are_missing_pages(site: SiteProject, path: str) -> None:
    missing = site.get(path)
    assert (missing.status_code, missing.content) == (404, site.get("/missing").content)


@pytest.mark.parametrize("path", ["/%ff", "/%ff/", "/%ff/site/%E9", "/a%00b/x", "/.well-known/acme-challenge/%ff"])
def test_paths_that_are_not_text_name_no_site(site: SiteProject, path: str) -> None:
    for host in (site.host, "other.example", "no-such-group.pages.test"):
        assert site.request("GET", path, host, sec_fetch_mode="cors").status_code == 404
    assert site.request("GET", path).status_code in (302, 404)


def test_files_may_have_names_that_are_not_text(make: Make, instance: Instance) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("public/index.html", b"home")
        archive.writestr("public/XX.html", b"latin")
    site = site_project(make, instance)
    site.deploy(packed.getvalue().replace(b"XX.html", b"\xe9X.html"))
    assert site.get("/%E9X.html").content == b"latin"
