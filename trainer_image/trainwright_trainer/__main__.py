"""`python -m trainwright_trainer` is the `trainwright` program."""

from trainwright_trainer.cli import main

main()
