"""Views of results as text, sparklines, HTML and plots: they see results only, and compute nothing.

`scene` chooses once what a picture of a pair shows; `sparkline`, `svg` with `html`, and `plots`
draw it. Pages are Jinja2 templates with autoescaping; colours follow Okabe and Ito. May import:
table, method, results.
"""
