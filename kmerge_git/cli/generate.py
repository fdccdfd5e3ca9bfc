"""`kmerge generate`: regenerate files after the conflicts in their sources are resolved."""

from __future__ import annotations

import argparse
import signal
import sys

from kmerge_git.cli.in_and_out import say, warn
from kmerge_git.errors import UsageError
from kmerge_git.visible import counted

DESCRIPTION = """\
Run the commands that write generated files, and stage these files. kmerge runs only commands from
the repository's own configuration (.git/config), and only when you call `kmerge generate`.
"""
EPILOG = """\
set up, in each clone:
  git config --local kmerge.generate.crds.command 'make manifests'
  git config --local kmerge.generate.crds.files 'config/crd/**'         files it writes
  git config --local --add kmerge.generate.crds.files 'config/rbac/*.yaml'
  git config --local kmerge.generate.crds.sources 'api/**'              files it reads
  git config --local kmerge.generate.crds.timeout 300                   seconds (default: 600)

examples:
  kmerge generate                run all generators, each after those whose files it reads
  kmerge generate crds           run only this generator
  kmerge generate --restore      restore the files as they were before a run that was killed

A command may run files that others changed, such as a Makefile or a script. So kmerge first lists
all changed files except manifests and generated files, and asks before it runs a command. If a
command fails, takes too long, or leaves a conflict marker, all generated files are restored. If a
command changes a file that no `.files` setting matches, the file is listed and nothing is staged.

exit status: 0 the generated files are staged, 1 nothing is staged, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("generators", nargs="*", metavar="NAME", help="the generators to run (default: all)")
    add("--yes", action="store_true", help="run the commands without asking")
    add("--restore", action="store_true", help="restore the files as they were before a killed run")


def run(args: argparse.Namespace) -> int:
    """Show what is going to run, ask, run it, and report the result."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.generating import foreign, generate, make_plan, restore

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the commands, as Ctrl-C does
    repository = Repository.open()
    if args.restore:
        warn(f"restored the generated files; what the killed run wrote is in {restore(repository)}")
        return 0
    plan = make_plan(repository, args.generators)
    files = foreign(plan)
    warn(*(f"{path}: this file was changed, and a command may run it" for path in files))
    warn(
        f"{plan.operation.name or 'no merge or rebase is in progress'}: "
        f"{counted(len(files), 'changed file')}, not counting manifests and generated files"
    )
    warn(*(f"the generator {one.name} runs `{one.command}`" for one in plan.generators))
    if not (args.yes or _agrees()):
        return 1
    failure, elsewhere, staged = generate(plan)
    warn(
        *(
            f"{path}: this file was changed, but no `.files` setting matches it"
            for path in elsewhere
        )
    )
    if failure:
        warn(f"{failure}; the generated files were restored, and nothing was staged")
    elif elsewhere:
        warn("nothing was staged, and nothing was restored")
    else:
        warn(f"{counted(len(staged), 'generated file')} staged")
    return 1 if failure or elsewhere else 0


def _agrees() -> bool:
    """Ask a person whether to run the commands."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("cannot ask without a terminal", hint="use --yes to run the commands")
    say("Run these commands? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
