"""Databases through their drivers: PostgreSQL, SQLite and others by ADBC."""
