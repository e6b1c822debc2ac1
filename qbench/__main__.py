"""`python -m qbench`."""

from qbench.cli.main import main

main()
