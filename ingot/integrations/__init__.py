"""Exchange with other systems: webhooks, services, imports and exports."""
