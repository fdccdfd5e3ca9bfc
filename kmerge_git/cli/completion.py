"""`kmerge completion SHELL`: the script that completes commands, options, branches and files."""

from __future__ import annotations

import argparse
import sys

from kmerge_git.cli.completing import levels
from kmerge_git.cli.shells import SHELLS
from kmerge_git.errors import UsageError

DESCRIPTION = """\
Print a script that makes a shell complete the commands and options of kmerge, and revisions,
branches, remotes and files where they belong. It asks git alone, and starts no Python.
"""
EPILOG = """\
bash, in ~/.bashrc; `git kmerge` is completed as well where git's own completion is loaded:
  source <(kmerge completion bash)

zsh, in ~/.zshrc, below `compinit`; or as a file in a folder of $fpath:
  source <(kmerge completion zsh)
  kmerge completion zsh >~/.zfunc/_kmerge

fish:
  kmerge completion fish >~/.config/fish/completions/kmerge.fish

A file is to be made again after an upgrade, to know the new options.

exit code: 0 printed, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    parser.add_argument("shell", choices=tuple(SHELLS), help="for which shell")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from kmerge_git.cli.main import COMMANDS

    script = SHELLS[args.shell](levels(COMMANDS))
    if not script.isascii():
        raise UsageError("an option is told in other letters than ASCII", hint="please report it")
    sys.stdout.write(script)
    return 0
