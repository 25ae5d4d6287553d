"""Outgoing HTTP requests: the SSRF guard that checks their address, and the client that connects only there."""
