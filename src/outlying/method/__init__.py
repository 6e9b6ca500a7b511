"""The formulas, and the only place of them: arrays in, arrays and numbers out.

Parzen windows (density), distinct values with counts (distribution), the measure (rarity, lift,
strength, threshold, outlierness), Gaussian mixtures by EM with annihilation (Figueiredo & Jain
2002), natural intervals, highest-density ranges (profiles) and curves for pictures (sketches).
May import: table.
"""
