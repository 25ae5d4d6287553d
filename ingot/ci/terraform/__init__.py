"""States of Terraform and OpenTofu: storage for their HTTP backend, with versions and locks."""
