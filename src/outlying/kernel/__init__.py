"""The screen in C, where a compiler was at hand: the same figures as by NumPy, many times faster.

`screen.c` is the code, `build` compiles it, `library` finds and calls it. OUTLYING_SCREEN chooses:
"numpy" does without it, "compiled" insists on it, the name of a build (x86-64-v2) takes that one.
"""
