"""Workbooks: one of their sheets as a table."""
