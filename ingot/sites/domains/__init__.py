"""Custom domains of static sites: verification, certificates and their renewal."""
