"""Database migrations: one frozen script per schema change, and their runner."""
