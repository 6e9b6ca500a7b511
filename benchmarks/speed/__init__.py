"""How fast, and how much memory: this package, the other tools and the naive twin in one run.

- ``spec``: what one measurement is, as JSON; ``measure``: the worker that takes it, in a process of
  its own; ``tables`` and ``subspaces``: its table; ``jobs``: what it times; ``memory``: its peak.
- ``launch``: starts workers and stops them when patience ends; ``parts``: what is measured.
- ``checks``: what is wanted; ``report`` and ``plot``: Markdown and SVG from the stored figures.
"""
