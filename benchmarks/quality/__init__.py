"""Explanations measured against known answers, ours beside those of other tools."""
