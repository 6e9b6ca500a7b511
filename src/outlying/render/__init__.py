"""Views of findings: they see findings only, and compute nothing."""
