"""Numbers as codes: exact values, or a grid of fine bins (binned kernel density)."""
