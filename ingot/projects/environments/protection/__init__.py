"""Protected environments of projects and groups: who may deploy to them."""
