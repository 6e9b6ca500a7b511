"""`python -m outlying` is the command line."""

from outlying.cli.main import main

main()
