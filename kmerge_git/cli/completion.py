"""`kmerge completion SHELL`: print a script that completes commands, options and branches.

The scripts run `kmerge __complete LINE...`, where LINE is the command line up to the word to be
completed. That command prints for each candidate a line with its name, a tab and its help. An empty
line means that a file can follow; then the shell lists files itself. Commands and options come from
the parsers, so that new options are completed without further work; branches come from git.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from kmerge_git.cli.main import COMMANDS, actions_of, line_parser, shown

DESCRIPTION = """\
Print a script with which a shell completes the commands and options of kmerge and their arguments,
such as revisions, branches, remotes and files. The script gets them from kmerge and git.
"""
EPILOG = """\
bash, in ~/.bashrc; this also completes `git kmerge` if git's own completion is loaded:
  source <(kmerge completion bash)

zsh, in ~/.zshrc after `compinit`, or as a file in a directory of $fpath:
  source <(kmerge completion zsh)
  kmerge completion zsh >~/.zfunc/_kmerge

fish:
  kmerge completion fish >~/.config/fish/completions/kmerge.fish

You need not print the script again after an upgrade, because it gets the options from kmerge.

exit code: 0 printed, 2 an error
"""
# A name that somebody else chose (a branch, a remote) is data here: it is quoted, never expanded.
SCRIPTS = {
    "bash": """\
_kmerge() {
    local line cur=${COMP_WORDS[COMP_CWORD]#=} files=''
    COMPREPLY=()
    while IFS=$'\\t' read -r line _; do
        case $line in
        '') files=1 ;;
        "$cur"*) printf -v line %q "$line"; COMPREPLY+=("$line ") ;;
        esac
    done < <(command kmerge __complete "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
    if [ -z "$files" ]; then set -- default +o bashdefault; else set -- nospace; fi
    [ ${#COMPREPLY[@]} -gt 0 ] || compopt +o "$@" 2>/dev/null || true
}
_git_kmerge() { _kmerge; }
complete -o bashdefault -o default -o nospace -F _kmerge kmerge git-kmerge
""",
    "zsh": """\
#compdef kmerge git-kmerge
_kmerge() {
    local line about files; local -a found
    while IFS=$'\\t' read -r line about; do
        if [[ -n $line ]] { found+=("${line//:/\\\\:}${about:+:$about}") } else { files=1 }
    done < <(command kmerge __complete "${(@)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)
    if [[ $PREFIX == --*=* ]] compset -P '*='
    if (( $#found )) _describe kmerge found
    if [[ -n $files ]] _files
}
_git-kmerge() { _kmerge "$@" }
if [[ ${funcstack[1]} == _kmerge ]]; then _kmerge "$@"; else compdef _kmerge kmerge git-kmerge; fi
""",
    "fish": """\
function __kmerge_complete
    set -l word (commandline -ct)
    set -l front (string match -r -- '^--[^=]+=' $word)
    for line in (command kmerge __complete (commandline -opc) "$word" 2>/dev/null)
        test -n "$line"; or set line (__fish_complete_path (string replace -- "$front" '' "$word"))
        printf '%s\\n' "$front"$line
    end
end
complete -c kmerge -f -a '(__kmerge_complete)'
""",
}
# The kind of value for each metavar: names from git, fixed words, or '' for values that cannot be
# listed. A metavar that is not in this table means a file.
REVISION, BRANCH, REMOTE = "REV", "BRANCH", "REMOTE"
_METAVARS = {
    **dict.fromkeys((REVISION, "RANGE", "A B"), REVISION), BRANCH: BRANCH, REMOTE: REMOTE,
    "branches": BRANCH, "OPT": "ours theirs",
    **dict.fromkeys(("N", "TEXT", "MODE", "NAME", "NAMESPACE", "ID=YAML", "R", "GLOB"), ""),
    **dict.fromkeys(("FIELDPATH", "FIELDPATH|ID", "KIND/NAME"), ""),
    **dict.fromkeys(("'NAME <MAIL>'", "'GLOB FIELD POLICY'"), ""),
}  # fmt: skip
_ASKED_OF_GIT = {
    REVISION: ("for-each-ref", "--format=%(refname:short)"),
    BRANCH: ("for-each-ref", "--format=%(refname:short)", "refs/heads"),
    REMOTE: ("remote",),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of the command."""
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell that will use the script")


def run(args: argparse.Namespace) -> int:
    """Print the completion script for a shell."""
    sys.stdout.write(SCRIPTS[args.shell])
    return 0


def complete(line: Sequence[str]) -> int:
    """Print the candidates for the last word of a command line; print nothing after any error."""
    with suppress(Exception):
        program, *words = line
        if program == "git":  # git's completion asks for `git kmerge`
            words = words[words.index("kmerge") + 1 :]
        lines = (f"{name}\t{about}".rstrip("\t") for name, about in candidates(words).items())
        os.write(1, os.fsencode("".join(f"{line}\n" for line in lines)))
    return 0


def candidates(words: Sequence[str]) -> dict[str, str]:
    """Return the candidates for the last word, each with its help; '' means any file name."""
    *typed, word = words
    parser, action, place = _position(typed)
    if action is None and word.startswith("-") and "--" not in typed:
        name, is_given, word = word.partition("=")
        if not is_given:
            return {name: _help(one) for one in shown(parser) for name in one.option_strings}
        action = _option(parser, name)
    elif action is None:
        below = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
        for found in below:
            return {one.dest: _help(one) for one in found._choices_actions}
        action = _argument(parser, place)
    return dict.fromkeys(_values(action, word), "") if action else {}


def _position(
    typed: Sequence[str],
) -> tuple[argparse.ArgumentParser, argparse.Action | None, int]:
    """Return the next word's parser, the option that awaits a value, and the word's position."""
    name = next((word for word in typed if word in COMMANDS), "")
    parser: argparse.ArgumentParser = line_parser(name)
    option, place, is_over = None, 0, False
    for word in typed:
        below = {} if is_over else dict(actions_of(parser))
        if option:  # bash makes three words of `--format=json`
            option = option if word == "=" else None
        elif word == "--":
            is_over = True
        elif word.startswith("-") and not is_over:
            option = _option(parser, word)
        elif word in below:
            parser = below[word]
        else:
            place += 1
    return parser, option, place


def _option(parser: argparse.ArgumentParser, name: str) -> argparse.Action | None:
    """Return the option of this name if the next word is the value of the option, else None."""
    for action in shown(parser):
        if name in action.option_strings and action.nargs != 0:
            return None if getattr(action, "is_in_one_word", False) else action
    return None


def _argument(parser: argparse.ArgumentParser, place: int) -> argparse.Action | None:
    """Return the positional argument at a place, counted from 0; the last argument may repeat."""
    known = [action for action in parser._actions if not action.option_strings]
    if place < len(known):
        return known[place]
    return known[-1] if known and known[-1].nargs in ("*", "+") else None


def _help(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")


def _values(action: argparse.Action, word: str) -> Iterable[str]:
    """Return the possible values of an argument; '' means any file name."""
    metavar = str(action.metavar or action.dest.upper())
    sort = _METAVARS.get(action.dest, _METAVARS.get(metavar))
    if action.choices:
        return map(str, action.choices)
    if metavar in ("ID", "IDS"):
        from kmerge_git.check.registry import GROUPS, every

        groups = ["all", *GROUPS.values()] if metavar == "IDS" else []
        return groups + [check.id for check in every()]
    if action.dest == "generators":
        from kmerge_git.git.generators import generators

        return [one.name for one in generators() if one.name.isprintable()]
    if metavar == "SIDE":
        from kmerge_git.merge.finish.possible_answers import CHOICES

        return CHOICES
    if metavar == "FORMAT[=FILE]":
        from kmerge_git.cli.preview import FORMATS

        return FORMATS
    if sort in _ASKED_OF_GIT:
        return [*_names(sort, word), *([""] if metavar == "A B" else [])]
    return [""] if sort is None else sort.split()


def _names(sort: str, word: str) -> Iterator[str]:
    """Yield revisions, branches or remotes without control characters in their names."""
    from kmerge_git.git.run_git import ask_git

    front, dots, _ = word.rpartition("..")  # a range A..B
    front += dots
    names = ask_git(*_ASKED_OF_GIT[sort]).out.splitlines()
    for name in ["HEAD", *names] if sort == REVISION else names:
        if name.isprintable() and not name.startswith("-"):
            yield (front if sort == REVISION else "") + name
