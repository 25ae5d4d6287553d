"""Addresses of every page, derived from the declared routes, so that new pages are included."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from ingot.web.all_pages import ALL_PAGES
from tests.sample_data.records import SampleData

Visitor = Literal["owner", "colleague", "root", "nobody"]
ROUTES = [route.path for pages in ALL_PAGES for route in pages.routes if route.method == "GET"]

PARTS = {
    "/-/people": "names for a field that completes them",
    "/-/namespaces": "paths for a field that completes them",
    "/:path/-/diff_lines/:rest": "rows of a difference",
    "/:path/-/jobs/:id/log": "new lines of a log",
    "/:path/-/merge_requests/:merge_request_iid/box": "the box to merge in, which asks for itself anew",
}
"""Page parts that scripts insert, with a description."""
REDIRECTS = {
    "/dashboard": "/",
    "/explore/projects": "/explore",
    "/groups": "/explore/groups",
    "/groups/:path/-/members": "the members of a group",
    "/oauth/applications": "/profile/applications",
    "/-/profile": "/profile",
    "/-/profile/:rest": "the page of this name below /profile",
    "/-/user_settings/:rest": "the same",
    "/:path/-/branches/:name": "its files",
    "/:path/-/releases/permalink/latest": "the newest release",
    "/:path/-/releases/:tag/downloads/:rest": "a file that lies anywhere",
    "/:path/-/import": "the project, where nothing is imported; else a part of its page",
    "/-/pages/authorize": "a static site",
    "/users/auth/openid_connect": "a provider, which tests of it bring along",
    "/users/auth/openid_connect/callback": "wherever somebody wanted to go",
}
"""Paths that only redirect, with their targets."""
OFF = {
    "/-/users/terms": "an instance without terms of service has no page of them",
    "/admin/session/new": "nobody enters the admin mode of an instance without it",
}
"""Pages that need a setting of the instance; tests/browser/test_settings_pages.py checks them with it."""
FILES = {
    "/-/diagram_frame",
    "/-/completions",
    "/-/suggestions",
    "/:path/-/choices/:kind",
    "/:path/-/activity.atom",
    "/:path/-/issues.atom",
    "/groups/:path/-/issues.atom",
    "/:path/-/raw/:rest",
    "/:path/-/badges/:ref/pipeline.svg",
    "/:path/-/badges/:ref/build.svg",
    "/:path/-/badges/:ref/coverage.svg",
    "/:path/-/badges/release.svg",
    "/:path/-/jobs/:id/raw",
    "/:path/-/jobs/:id/artifacts/download",
    "/:path/-/settings/export/download",
    "/groups/:path/-/settings/export/download",
    "/:path/-/jobs/:id/artifacts/raw/:rest",
    "/:path/-/archive/:rest",
    "/:path/-/repository/:file",
    "/:path/-/merge_requests/:merge_request_iid/raw_diffs",
    "/:path/-/merge_requests/:merge_request_iid/conflicts.json",
    "/snippets/:id/raw",
    "/snippets/:id/raw/:ref/:file",
    "/-/snippets/:id/raw",
    "/-/snippets/:id/raw/:ref/:file",
    "/:path/-/snippets/:id/raw",
    "/:path/-/snippets/:id/raw/:ref/:file",
    "/uploads/-/system/group/avatar/:id/:file",
    "/uploads/-/system/topic/avatar/:id/:file",
    "/uploads/-/system/project/avatar/:id/:file",
    "/uploads/-/system/user/avatar/:id/:file",
    "/uploads/-/system/appearance/:name/:id/:file",
    "/-/appearance.css",
    "/-/manifest.json",
    "/.well-known/security.txt",
    "/-/project/:id/uploads/:secret/:file",
    "/-/project/:id/wikis/uploads/:secret/:file",
    "/-/group/:id/wikis/uploads/:secret/:file",
    "/assets/:file",
    "/users/:username/exists",
    "/oauth/token/info",
    "/oauth/userinfo",
    "/oauth/discovery/keys",
    "/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/api/v4/mcp",
}
"""Downloads, and responses for programs."""
DUPLICATES = {
    "/snippets": "/-/snippets",
    "/snippets/new": "/-/snippets/new",
    "/snippets/:id": "/-/snippets/:id",
    "/snippets/:id/edit": "/-/snippets/:id/edit",
    "/:path/-/tree": "/:path/-/tree/:rest",
    "/:path/-/find_file": "/:path/-/find_file/:rest",
    "/:path/-/commits": "/:path/-/commits/:rest",
    "/:path/-/graphs": "/:path/-/graphs/:rest",
    "/:path/-/settings": "/:path/-/edit",
    "/profile/password/new": "/profile/password/edit",
}
"""Additional paths of a page, and the path that is visited."""
NOT_PAGES = PARTS.keys() | REDIRECTS.keys() | FILES | DUPLICATES.keys()

# Variants of each page: a suffix, or a replacement of its last path segment.
STATES = {
    "/users/sign_in": ["?redirect_to=/explore"],
    "/explore": ["?search=tides", "?search=nothing-is-called-this", "?topic=sea"],
    "/search": ["?search=tides", "?search=a&scope=issues", "?search=nothing-is-called-this", "?search=sea&scope=users"],
    "/groups/:path/-/search": ["?search=water&scope=issues"],
    "/:path/-/search": ["?search=tide&scope=blobs", "?search=nothing-is-called-this", "?search=water&scope=issues"],
    "/:path/-/issues": ["?state=closed", "?search=nothing-is-called-this", "?state=all&sort=asc"],
    "/:path/-/merge_requests": ["?state=merged", "?search=nothing-is-called-this"],
    "/:path/-/merge_requests/:merge_request_iid": ["2", "3"],
    "/:path/-/merge_requests/:merge_request_iid/diffs": ["?view=split", "?w=1"],
    "/:path/-/merge_requests/new": ["?merge_request[source_branch]=clash&merge_request[target_branch]=main"],
    "/:path/-/issues/:issue_iid": ["2", "3"],
    "/:path/-/issues/:issue_iid/sidebar/:field": ["assignees", "milestone", "time", "due_date"],
    "/:path/-/commit/:sha": ["?view=split"],
    "/:path/-/pipelines": ["?status=failed", "?ref=nothing-is-called-this"],
    "/:path/-/blob/:rest": ["master/README.md", "master/logo.svg", "master/LICENSE"],
    "/:path/-/wikis/:slug": ["new"],
    "/groups/:path/-/wikis/:slug": ["new"],
    "/:path/-/compare/:rest": ["master...done", "master...master"],
    "/dashboard/todos": ["?state=done"],
    "/import/new": ["?source=gitlab"],
    "/admin/users": ["?search=nobody-is-called-this"],
    "/admin/jobs": ["?state=failed"],
}
# Pages of an empty project.
EMPTY = ["", "/-/issues", "/-/merge_requests", "/-/branches", "/-/tags", "/-/releases", "/-/pipelines", "/-/wikis"]
EMPTY += ["/-/snippets", "/-/labels", "/-/milestones", "/-/activity", "/-/hooks", "/-/boards", "/-/forks", "/-/graphs"]
EMPTY += ["/-/project_members"]
# Pages for anonymous visitors.
ANONYMOUS = ["", "/-/issues/1", "/-/merge_requests/1", "/-/merge_requests/1/diffs", "/-/snippets", "/-/commit/master"]
WITHOUT_NAME = ["/users/sign_in", "/users/sign_up", "/users/confirmation/new", "/users/password/new"]
WITHOUT_NAME += ["/users/password/edit", "/users/confirmation", "/sent_notifications/:key/unsubscribe"]
WITHOUT_NAME += ["/-/invites/:token"]
# Rejected forms, which keep the typed values.
REFUSED: dict[Visitor, dict[str, dict[str, str]]] = {
    "nobody": {
        "/users/sign_in": {"user[login]": "ada", "user[password]": "wrong"},
        "/users": {"user[username]": "ad a", "user[email]": "ada", "user[name]": "Ada"},
    },
    "owner": {
        "/projects": {"project[name]": "", "project[description]": "Kept"},
        "/groups": {"group[name]": "", "group[description]": "Kept"},
        "/-/snippets": {"snippet[title]": "", "snippet[content]": "Kept"},
        "/profile": {"user[name]": "", "user[bio]": "Kept"},
        "/profile/emails": {"email[email]": "no address"},
        "/profile/keys": {"key[title]": "Laptop", "key[key]": "no key"},
        "/profile/gpg_keys": {"gpg_key[key]": "no key"},
        "/profile/password": {"user[password]": "short"},
        "/profile/personal_access_tokens": {"personal_access_token[name]": ""},
        "/profile/personal_access_tokens/fine_grained": {"token[name]": ""},
        "/import/archive": {"import[path]": "kept"},
        "/import/group": {"import[path]": "kept", "import[name]": "Kept"},
        "/import/plan": {"import[path]": "kept"},
        "/oauth/applications": {"doorkeeper_application[name]": "", "doorkeeper_application[redirect_uri]": "kept"},
        "/:path/-/issues": {"issue[title]": "", "issue[description]": "Kept"},
        "/:path/-/labels": {"label[name]": "", "label[color]": "no colour"},
        "/:path/-/milestones": {"milestone[title]": "", "milestone[description]": "Kept"},
        "/:path/-/merge_requests": {"merge_request[title]": "", "merge_request[source_branch]": "nowhere"},
        "/:path/-/wikis": {"wiki[title]": "", "wiki[content]": "Kept"},
        "/:path/-/branches": {"branch": "a..b", "ref": "master"},
        "/:path/-/tags": {"tag_name": "a..b", "ref": "master", "message": "Kept"},
        "/:path/-/releases": {"tag_name": "", "description": "Kept"},
        "/:path/-/hooks": {"hook[url]": "no address"},
        "/:path/-/settings/variables": {"variable[key]": "no key", "variable[value]": "kept"},
        "/:path/-/settings/badges": {"badge[name]": "kept", "badge[link_url]": "no address"},
        "/:path/-/settings/deploy_keys": {"key[title]": "kept", "key[key]": "no key"},
        "/:path/-/project_members": {"member[username]": "nobody-of-this-name"},
        "/:path/-/new/master": {"file_name": "", "content": "Kept"},
        "/:path/-/issues/1/notes": {"note[body]": ""},
        "/:path/-/merge_requests/1/line_notes": {"note[body]": ""},
        "/:path/-/commit/master/comments": {"note": ""},
    },
    "root": {
        "/admin/users": {"user[username]": "a b", "user[name]": "Kept"},
        "/admin/hooks": {"hook[url]": "no address"},
        "/admin/applications": {"doorkeeper_application[name]": ""},
        "/admin/broadcast_messages": {"broadcast_message[message]": ""},
    },
}


@dataclass(frozen=True)
class Address:
    """Path to open, visitor, and route."""

    route: str
    path: str
    visitor: Visitor = "owner"
    status: int = 200
    sent: dict[str, str] | None = None
    """Form fields to submit; empty for a GET request."""


def addresses(samples: SampleData) -> list[Address]:
    """Return every page at least once, with the relevant states."""
    found = [address for route in ROUTES if route not in NOT_PAGES for address in _of(samples, route)]
    found += _refused(samples)
    found.append(Address(_CONFLICTS, f"/{samples.project.path}/-/merge_requests/2/conflicts"))
    found += [Address("/:path", f"/{samples.empty.path}{tail}") for tail in EMPTY]
    found += [Address("/:path", f"/{samples.project.path}{tail}", "nobody") for tail in ANONYMOUS]
    found += [Address("/:path", path, "nobody") for path in ("/explore", f"/{samples.owner.username}")]
    found.append(Address("/:path", f"/{samples.owner.username}"))
    found += [Address("/:path", "/no/such/page", "nobody", 404), Address("/:path", "/no/such/page", "owner", 404)]
    found.append(Address("/:path/-/wikis/:slug", f"/{samples.project.path}/-/wikis/not-written-yet", "owner", 404))
    found.append(Address("/oauth/authorize", "/oauth/authorize?client_id=nonsense", "owner", 400))
    # A user without any data.
    return [*found, *(Address(path, path, "colleague") for path in ("/", "/-/snippets", "/dashboard/issues"))]


_CONFLICTS = "/:path/-/merge_requests/:merge_request_iid/conflicts"


def _refused(samples: SampleData) -> list[Address]:
    return [
        Address(path, path.replace(":path", quote(samples.project.path)), visitor, _REFUSED_WITH.get(path, 422), sent)
        for visitor, forms in REFUSED.items()
        for path, sent in forms.items()
    ]


_REFUSED_WITH = {"/users/sign_in": 401}


def parts(samples: SampleData) -> list[Address]:
    """Return the addresses of page parts that scripts request."""
    boxes = [Address(PAGE_OF_BOX, f"/{samples.project.path}/-/merge_requests/{iid}/box") for iid in (1, 2, 3)]
    gap = f"{quote(samples.named[':sha'])}/{quote(samples.named['file'])}?first=1&last=3&ahead=0&anchor=d0123456789"
    people = Address("/-/people", f"/-/people?search={quote(samples.owner.username)}")
    spaces = Address("/-/namespaces", f"/-/namespaces?namespace={quote(samples.owner.username)}")
    rows = Address("/:path/-/diff_lines/:rest", f"/{samples.project.path}/-/diff_lines/{gap}")
    log = Address("/:path/-/jobs/:id/log", f"/{samples.project.path}/-/jobs/{samples.named['job']}/log?status=failed")
    return [*boxes, people, spaces, rows, log]


PAGE_OF_BOX = "/:path/-/merge_requests/:merge_request_iid/box"


def _of(samples: SampleData, route: str) -> list[Address]:
    plain = _filled(samples, route)
    more = [
        plain.partition("?")[0] + state if state.startswith("?") else _filled(samples, route, state)
        for state in STATES.get(route, [])
    ]
    visitor: Visitor = "root" if route.startswith("/admin") else "nobody" if route in WITHOUT_NAME else "owner"
    return [Address(route, path, visitor, 404 if route in OFF else 200) for path in (plain, *more)]


def _filled(samples: SampleData, route: str, last: str = "") -> str:
    """Return a route with its parameters replaced."""
    words = _words(samples, route)
    if last:
        words[route.rpartition("/")[2]] = quote(last, safe="/.")
    filled = "/".join(words[word] if word.startswith(":") else word for word in route.split("/"))
    return filled + _QUERIES.get(route, "").format(**{name: quote(value) for name, value in samples.named.items()})


_QUERIES = {
    "/users/password/edit": "?reset_password_token={password token}",
    "/users/confirmation": "?confirmation_token={confirmation token}",
    "/users/unlock": "?unlock_token={unlock token}",
    "/oauth/authorize": "?client_id={client}&redirect_uri=https%3A%2F%2Fapp.example%2F&response_type=code&scope=api",
    "/search": "",
    "/profile/chat_names/new": "?token={chat link}",
}


def _path_of_project(samples: SampleData, route: str) -> str:
    if route.startswith("/explore/catalog/"):
        return samples.catalog.path
    return samples.trains.path if route.endswith("/merge_trains") else samples.project.path


def _words(samples: SampleData, route: str) -> dict[str, str]:
    named = samples.named
    group = route.startswith("/groups/")
    talk = next((kind for word, kind in _DISCUSSIONS.items() if f"/{word}/" in route), "issue")
    holder = "group" if group else "project"
    texts = {
        ":path": samples.group.path if group else _path_of_project(samples, route),
        ":issue_iid": "1",
        ":merge_request_iid": "1",
        ":sha": named[":sha"],
        ":ref": "master",
        ":tag": named[":tag"],
        ":name": named[":tag"],
        ":key": named[":key"],
        ":field": "labels",
        ":topic": "sizes",
        ":token": named[f"{holder} token" if "/access_tokens/" in route else "invitation token"],
        ":slug": named["wiki"] if "/wikis/" in route else "slack",
        ":discussion_id": named[f"{talk} discussion"],
        ":note_id": named[f"{talk} description" if "/descriptions/" in route else f"{talk} note"],
        ":kind": "issues",
        ":snippet_id": named["snippet"],
        ":label_id": named[f"{holder} label"],
        ":milestone_iid": named[f"{holder} milestone"],
        ":board_id": named[f"{holder} board"],
        ":hook": named["system hook" if route.startswith("/admin") else f"{holder} hook"],
        ":runner": named["group runner" if group else "runner"],
        ":schedule": named["schedule"],
        ":environment": named["environment"],
        ":package": named["package"],
        ":repository": named["repository"],
        ":deletion": named["farewell"],
        ":rest": _rest(samples, route),
        ":id": _id(samples, route),
    }
    return {
        word: quote(text, safe="/.") if word in (":path", ":rest", ":name", ":slug") else quote(text, safe=".")
        for word, text in texts.items()
    }


_DISCUSSIONS = {"merge_requests": "offer", "snippets": "snippet", "commit": "commit"}


def _rest(samples: SampleData, route: str) -> str:
    named = samples.named
    if "/tree/" in route or "/new/" in route or "/upload/" in route or "/new_dir/" in route:
        return f"master/{named['folder']}"
    if "/artifacts/" in route:
        return "out"
    if "/compare/" in route:
        return f"master...{named['branch']}"
    if "/commits/" in route or "/graphs/" in route or "/find_file/" in route:
        return named["branch"]
    return f"master/{named['file']}"


def _id(samples: SampleData, route: str) -> str:
    kinds = {"/pipelines/": "pipeline", "/jobs/": "job", "/:path/-/snippets/": "snippet", "/-/snippets/": "own snippet"}
    kinds |= {"/import/:id": "import", "/personal_access_tokens/": "personal token"}
    kinds |= {"/oauth/applications/": "own application", "/admin/applications/": "instance application"}
    kind = next((kind for start, kind in kinds.items() if start in route), None)
    return samples.named[kind] if kind else str(samples.owner.id)
