"""Views of results as text, HTML and plots: they see results only, and compute nothing.

May import: table, method, results.
"""
