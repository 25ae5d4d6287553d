"""Model Context Protocol: tools for agents over the endpoints."""
