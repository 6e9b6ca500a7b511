"""`python -m outlying` is the command line."""

from outlying.cli import main

main()
