"""`kmerge generate`: make generated files anew when the sources of a merge are decided."""

from __future__ import annotations

import argparse
import signal
import sys

from kmerge_git.cli.in_and_out import say, warn
from kmerge_git.errors import UsageError
from kmerge_git.visible import counted

DESCRIPTION = """\
Run the commands that write generated files, and stage these files. Nothing is run but the commands
in the repository's own configuration (.git/config), and these only by this command.
"""
EPILOG = """\
set up, in each clone:
  git config --local kmerge.generate.crds.command 'make manifests'
  git config --local kmerge.generate.crds.files 'config/crd/**'         what it writes
  git config --local --add kmerge.generate.crds.files 'config/rbac/*.yaml'
  git config --local kmerge.generate.crds.sources 'api/**'              what it reads
  git config --local kmerge.generate.crds.timeout 300                   seconds (default: 600)

examples:
  kmerge generate                all generators, each after those whose files it reads
  kmerge generate crds           this one
  kmerge generate --restore      puts back what was there before a run that was killed

First it lists what others changed besides manifests and generated files, such as a Makefile or a
script, because a command may run that, and asks. If a command fails, takes too long, or leaves a
conflict marker, all generated files are put back. If a file changes that no `.files` names, it is
listed, and nothing is staged.

exit status: 0 generated and staged, 1 nothing is staged, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("generators", nargs="*", metavar="NAME", help="which generators to run (default: all)")
    add("--yes", action="store_true", help="run them without asking")
    add("--restore", action="store_true", help="put back the files that a killed run left changed")


def run(args: argparse.Namespace) -> int:
    """Show what is going to run, ask, run it, and report the result."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.generating import foreign, generate, make_plan, restore

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the commands, as Ctrl-C does
    repository = Repository.open()
    if args.restore:
        warn(f"the generated files are put back; what was there is in {restore(repository)}")
        return 0
    plan = make_plan(repository, args.generators)
    files = foreign(plan)
    warn(*(f"{path}: it is changed, and a command may run it" for path in files))
    warn(
        f"{plan.operation.name or 'no merge or rebase is in progress'}: "
        f"{counted(len(files), 'changed file')} besides manifests and generated files"
    )
    warn(*(f"{one.name} runs `{one.command}`" for one in plan.generators))
    if not (args.yes or _agrees()):
        return 1
    failure, elsewhere, staged = generate(plan)
    warn(*(f"{path}: it changed, and no `.files` names it" for path in elsewhere))
    if failure:
        warn(f"{failure}; the generated files are put back, nothing is staged")
    elif elsewhere:
        warn("nothing is staged, and nothing is put back")
    else:
        warn(f"{counted(len(staged), 'generated file')} staged")
    return 1 if failure or elsewhere else 0


def _agrees() -> bool:
    """Ask a person whether to run the commands."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("there is no terminal to ask on", hint="nothing is run; --yes runs it")
    say("Run it? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
