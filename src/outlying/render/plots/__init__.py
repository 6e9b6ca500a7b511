"""Plots of pairs with matplotlib, for papers and notebooks; the web page draws its own SVG.

What is shown is chosen in `scene`; here it is drawn. Figures are made without pyplot, so that
nothing global changes and nothing has to be closed.
"""

from outlying.render.plots.figure import Plot, plot, plot_all
from outlying.render.plots.panels import View

__all__ = ["Plot", "View", "plot", "plot_all"]
