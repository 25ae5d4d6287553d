"""Certificates of X.509 signatures with their issuers, whose revocation lists are read daily."""
