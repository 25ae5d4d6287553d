"""Services: what projects are connected to elsewhere."""
