"""Certificates of custom domains by the ACME protocol (RFC 8555), with the challenge HTTP-01.

Only this module imports the library ``acme``, which is an optional dependency. An order needs seconds to minutes in a
job; the answer to the challenge is a row, because the ACME server may ask any node for it.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

import msgspec
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Invalid
from ingot.core.jobs.handlers import RetryLater
from ingot.core.jobs.queue import enqueue
from ingot.core.log import log_failure
from ingot.core.settings import Settings
from ingot.sites.domains.certificates import new_key, validate_certificate
from ingot.sites.domains.queries import acme_account_or_none, domain_by_id, domains_to_renew
from ingot.sites.domains.service import (
    OBTAIN_CERTIFICATE,
    CertificateChange,
    add_acme_account,
    add_challenge,
    record_acme_failure,
    store_obtained_certificate,
)
from ingot.sites.domains.tables import PagesDomain

RENEWAL_SECONDS = 30 * 86_400
"""Time before the end of a certificate at which the next one is ordered."""
_ORDER_SECONDS = 120
_RETRY_SECONDS = 900.0
_KEY_BITS = 2048


def enqueue_renewals(db: Connection) -> None:
    """Enqueue orders for domains without a certificate, and for certificates that end within 30 days."""
    moment, after = add_duration(db.now, seconds=RENEWAL_SECONDS), 0
    while domain_ids := domains_to_renew(db, moment, after):
        for domain_id in domain_ids:
            enqueue(db, OBTAIN_CERTIFICATE, domain_id, unique_key=f"certificate of domain {domain_id}")
        after = domain_ids[-1]


class CertificateOrders:
    """Handler of the job that obtains the certificate of a domain."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def run(self, database: Database, payload: Any) -> None:
        """Obtain a certificate, unless the domain has one that is valid long enough."""
        domain = database.read(partial(_domain_to_order, domain_id=msgspec.convert(payload, int)))
        if domain is None or not self._settings.pages_acme_email:
            return
        from acme import errors
        from requests import RequestException

        try:
            change = self._obtain(database, domain)
        except (RequestException, errors.TimeoutError) as error:
            raise RetryLater(_RETRY_SECONDS, f"The ACME server did not answer: {type(error).__name__}") from None
        except (errors.Error, Invalid) as error:
            log_failure("certificate order failed", error)
            database.write(partial(record_acme_failure, domain_id=domain.id))
            return
        database.write(partial(store_obtained_certificate, domain_id=domain.id, change=change))

    def _obtain(self, database: Database, domain: PagesDomain) -> CertificateChange:
        from acme import challenges, crypto_util

        client = self._client(database)
        _, key_pem = new_key()
        order = client.new_order(crypto_util.make_csr(key_pem.encode(), domains=[domain.domain]))
        for authorization in order.authorizations:
            for challenge in authorization.body.challenges:
                if isinstance(challenge.chall, challenges.HTTP01):
                    response, answer = challenge.response_and_validation(client.net.key)
                    token = challenge.chall.encode("token")
                    database.write(partial(add_challenge, domain_id=domain.id, token=token, response=answer))
                    client.answer_challenge(challenge, response)
        deadline = datetime.now() + timedelta(seconds=_ORDER_SECONDS)
        chain: str = client.poll_and_finalize(order, deadline).fullchain_pem
        return CertificateChange(chain, key_pem, validate_certificate(chain, key_pem, domain.domain))

    def _client(self, database: Database) -> Any:
        """Return a client with the account of the instance, which the first order creates."""
        from acme.client import ClientNetwork, ClientV2
        from acme.messages import NewRegistration, Registration, RegistrationResource
        from josepy.jwk import JWKRSA

        directory, email = self._settings.pages_acme_directory, self._settings.pages_acme_email
        stored = database.read(partial(acme_account_or_none, directory=directory, email=email))
        pem = _new_account_key() if stored is None else database.vault.unseal(stored.sealed_key)
        network = ClientNetwork(
            JWKRSA(key=load_pem_private_key(pem.encode(), None)),
            user_agent="ingot",
            # The library passes it on to requests, which accepts the path of a file too.
            verify_ssl=cast("bool", self._settings.pages_acme_ca_file or True),
        )
        client = ClientV2(ClientV2.get_directory(directory, network), network)
        if stored is not None:
            network.account = RegistrationResource(uri=stored.url, body=Registration())
            return client
        account = client.new_account(NewRegistration.from_data(email=email, terms_of_service_agreed=True))
        add = partial(add_acme_account, directory=directory, email=email, url=account.uri, key=pem)
        database.write(add)
        return client


def _new_account_key() -> str:
    key = rsa.generate_private_key(65537, _KEY_BITS)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _domain_to_order(db: Connection, domain_id: int) -> PagesDomain | None:
    domain = domain_by_id(db, domain_id)
    if domain is None or not domain.auto_ssl_enabled or domain.auto_ssl_failed or domain.enabled_until is None:
        return None
    soon: Timestamp = add_duration(db.now, seconds=RENEWAL_SECONDS)
    has_valid = domain.certificate is not None and domain.valid_until is not None and domain.valid_until > soon
    return None if has_valid else domain
