"""GraphQL API with the names and shapes of GitLab's schema; its values are the responses of the REST endpoints.

See docs/subsystems/graphql.md.
"""
