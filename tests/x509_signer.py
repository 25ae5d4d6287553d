"""Signatures by X.509 certificates, made by openssl for git."""

import subprocess
from pathlib import Path

_SIGN_WITH_OPENSSL = """#!/bin/sh
cd "$(dirname "$0")"
openssl cms -sign -binary -signer leaf.pem -inkey leaf.key -outform PEM | sed "s/ CMS-/ SIGNED MESSAGE-/"
echo "
[GNUPG:] SIG_CREATED " >&2
"""
_LEAF = """
subjectAltName=email:{email}
keyUsage=digitalSignature
extendedKeyUsage=emailProtection
subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid
{list}"""
_LIST = "crlDistributionPoints=URI:{url}\n"
_AUTHORITY = """
[ca]
default_ca=authority
[authority]
database=index.txt
crlnumber=number
default_md=sha256
default_crl_days=9
"""


def x509_program(folder: Path, email: str, list_url: str | None = "http://pki.example.com/pki.crl") -> Path:
    """Write a certificate with its authority, and a program that signs with it for git."""
    new_key = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    authority = ("-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/O=World/CN=PKI", "-days", "9")
    _openssl(folder, *new_key, *authority)
    _openssl(folder, *new_key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/O=World/CN=Ada")
    (folder / "leaf.cnf").write_text(_LEAF.format(email=email, list=_LIST.format(url=list_url) if list_url else ""))
    sign = ("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", str(2**80))
    _openssl(folder, *sign, "-days", "9", "-extfile", "leaf.cnf", "-out", "leaf.pem")
    program = folder / "sign"
    program.write_text(_SIGN_WITH_OPENSSL)
    program.chmod(0o700)
    return program


def revocation_list(folder: Path, *, revoked: bool, signer: str = "ca") -> bytes:
    """Return the list of the authority, by openssl, in DER."""
    (folder / "authority.cnf").write_text(_AUTHORITY)
    (folder / "index.txt").touch()
    (folder / "number").write_text("01")
    authority = ("ca", "-config", "authority.cnf", "-keyfile", f"{signer}.key", "-cert", f"{signer}.pem")
    if revoked:
        _openssl(folder, *authority, "-revoke", "leaf.pem")
    _openssl(folder, *authority, "-gencrl", "-out", "list.pem")
    _openssl(folder, "crl", "-in", "list.pem", "-outform", "DER", "-out", "list.der")
    return (folder / "list.der").read_bytes()


def other_authority(folder: Path) -> None:
    """Write another authority of the same name."""
    new_key = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    _openssl(folder, *new_key, "-keyout", "other.key", "-out", "other.pem", "-subj", "/O=World/CN=PKI", "-days", "9")


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, check=True)
