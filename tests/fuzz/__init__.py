"""Random calls of every endpoint, generated from the OpenAPI document."""
