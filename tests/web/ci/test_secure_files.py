"""Page of secure files."""

from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, pkcs12

from tests.ci.secure_files.test_secure_files import EXPIRY, make_certificate, make_profile
from tests.client import Make
from tests.web.ci.scene import CiScene


def test_secure_files_are_uploaded_and_deleted(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/settings/secure_files"
    assert "No secure files" in browser.get(address).text
    data = {"authenticity_token": browser.token(), "secure[name]": ""}
    for _, status in (("new", 302), ("again", 422)):
        sent = browser.post(address, data=data, files={"secure[file]": ("key.jks", b"secret")})
        assert sent.status_code == status, sent.text
    assert browser.post(address, data=data).status_code == 422
    (file,) = make.api.get(f"{scene.project.url}/secure_files", scene.owner).json()
    page = browser.get(address).text
    assert "key.jks" in page and file["checksum"] in page
    download = f"/api/v4{scene.project.url}/secure_files/{file['id']}/download"
    assert download in page and browser.get(download).content == b"secret"
    assert browser.submit(address, f"{address}/{file['id']}", does="delete").status_code == 302
    assert "No secure files" in browser.get(address).text


def test_only_maintainers_see_the_page(scene: CiScene, make: Make) -> None:
    developer = make.user(password="correct horse battery")
    make.api.post(f"{scene.project.url}/members", scene.owner, user_id=developer.id, access_level=30)
    assert scene.browser(developer).get(f"{scene.path}/-/settings/secure_files").status_code == 404


def test_the_page_shows_the_facts_about_every_type(scene: CiScene, make: Make) -> None:
    key, certificate = make_certificate(17)
    anonymous = x509.CertificateBuilder().subject_name(x509.Name([])).issuer_name(certificate.issuer)
    anonymous = anonymous.public_key(key.public_key()).serial_number(1).not_valid_before(EXPIRY).not_valid_after(EXPIRY)
    odd: dict[str, Any] = {"AppIDName": ["x"], "TeamName": {"<b>": 10**15}, "Entitlements": {"a": float("nan")}}
    huge = f"<integer>{10**2000}</integer>"
    files = {
        "der.cer": certificate.public_bytes(Encoding.DER),
        "store.p12": pkcs12.serialize_key_and_certificates(None, key, certificate, None, NoEncryption()),
        "nobody.cer": anonymous.sign(key, hashes.SHA256()).public_bytes(Encoding.DER),
        "app.mobileprovision": make_profile(key, certificate, {"AppIDName": "My <app>", "TeamName": "My team"}),
        "team.mobileprovision": make_profile(key, certificate, {"TeamName": "Hidden"}),
        "empty.mobileprovision": make_profile(key, certificate, {}),
        "odd.mobileprovision": make_profile(key, certificate, odd),
        "large.mobileprovision": make_profile(key, certificate, {"AppIDName": "x" * 5000, "UUID": 2**63}),
        "broken.mobileprovision": b"<?xml?></plist>",
        "number.mobileprovision": f"<?xml version='1.0'?><plist><dict><key>Name</key>{huge}</dict></plist>".encode(),
        "key.jks": b"secret",
    }
    for name, content in files.items():
        url, sent = f"{scene.project.url}/secure_files", {"file": ("upload", content)}
        made = make.api.request("POST", url, scene.owner, files=sent, data={"name": name})
        assert made.status_code == 201, (name, made.text)
    page = scene.browser().get(f"{scene.path}/-/settings/secure_files")
    assert page.status_code == 200
    assert page.text.count("DE, Signing, ABC") == 2
    assert "My &lt;app&gt; &#183; My team" in page.text
    assert all(name in page.text for name in files)
    assert len(make.api.get(f"{scene.project.url}/secure_files", scene.owner).json()) == len(files)
