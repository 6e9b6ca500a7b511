"""Estimates for many contexts at once, by rows as bits: bitsets, histograms, neighbours."""
