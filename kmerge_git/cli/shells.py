"""The scripts that complete a command line, for bash, zsh and fish.

A name that somebody else chose (a branch, a remote) is data in all of them: it is never expanded,
it is quoted where the shell does not do it, and names with control characters or marks of
direction, or with a dash in front, are not offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from shlex import quote

from kmerge_git.cli.completing import EITHER, FILE, WORDS, Level

_HEAD = (
    "# kmerge completion {name}: commands and options as the parsers of this version know them.\n"
)
# names that git gives; the bytes are C1, and marks of direction and of no width
_NAMES = """\
__kmerge_seemly() {
    LC_ALL=C command grep -av -e '^-' -e '[[:cntrl:]]' \\
        -e $'\\xc2[\\x80-\\x9f]' -e $'\\xd8\\x9c' -e $'\\xef\\xbb\\xbf' \\
        -e $'\\xe2\\x80[\\x8b-\\x8f\\xa8-\\xae]' -e $'\\xe2\\x81[\\xa0-\\xaf]'
}

__kmerge_names() {
    case $1 in
    rev*) echo HEAD; command git for-each-ref --format='%(refname:short)' ;;
    branch) command git for-each-ref --format='%(refname:short)' refs/heads ;;
    remote) command git remote ;;
    esac 2>/dev/null | __kmerge_seemly
}
"""

_BASH = """\
__kmerge_offer() {  # the lines of stdin that go on from $1, as words; $2 stands in front of them
    local line
    while IFS= read -r line; do
        case $line in
        "$1"*) printf -v line %q "$line"; COMPREPLY+=("$2$line ") ;;
        esac
    done
}

__kmerge_complete() {  # $1: which word of the command line is kmerge
    local at=$(($1 + 1)) cur=${COMP_WORDS[COMP_CWORD]} command='' kind='' place=1 ended='' word
    local front='' options=() below=()
    COMPREPLY=()
    while [ "$at" -lt "$COMP_CWORD" ]; do
        word=${COMP_WORDS[at]} at=$((at + 1))
        if [ -n "$kind" ]; then
            [ "$word" = '=' ] || kind=''
            continue
        fi
        case $ended$word in
        --) ended=1 ;;
        -*) __kmerge_kind "$command" "$word" ;;
        *)
            if [ -z "$ended" ] && __kmerge_is "${command:+$command }$word"; then
                command=${command:+$command }$word
            else
                place=$((place + 1))
            fi
            ;;
        esac
    done
    [ "$cur" = '=' ] && cur=''
    __kmerge_level "$command"
    if [ -z "$kind$ended" ] && [ "${cur:0:1}" = - ]; then
        __kmerge_offer "$cur" '' < <(printf '%s\\n' "${options[@]}")
        return
    fi
    if [ -z "$kind" ] && [ ${#below[@]} -gt 0 ]; then
        __kmerge_offer "$cur" '' < <(printf '%s\\n' "${below[@]}")
        return
    fi
    [ -n "$kind" ] || __kmerge_kind "$command" "$place"
    case $kind in
    =*) __kmerge_offer "$cur" '' < <(printf '%s\\n' ${kind#=}) ;;
    rev*)
        word=${cur##*..} front=${cur%"${cur##*..}"}
        __kmerge_offer "$word" "$front" < <(__kmerge_names "$kind")
        if [ "$kind" = rev-or-file ] && [ ${#COMPREPLY[@]} -eq 0 ]; then kind=file; fi
        ;;
    branch | remote) __kmerge_offer "$cur" '' < <(__kmerge_names "$kind") ;;
    esac
    case $kind in
    file) compopt +o nospace 2>/dev/null ;;  # the shell knows files best
    *) compopt +o default +o bashdefault 2>/dev/null ;;
    esac
    return 0
}

_kmerge() { __kmerge_complete 0; }

_git_kmerge() {
    local at=1
    while [ "$at" -lt "$COMP_CWORD" ] && [ "${COMP_WORDS[at]}" != kmerge ]; do at=$((at + 1)); done
    __kmerge_complete "$at"
}

complete -o bashdefault -o default -o nospace -F _kmerge kmerge git-kmerge
"""

_ZSH = """\
_kmerge() {
    local command='' kind='' ended='' word
    local -a options below names
    integer at=2 place=1
    while (( at < CURRENT )); do
        word=$words[at]
        (( at++ ))
        if [[ -n $kind ]]; then
            kind=''
            continue
        fi
        case $ended$word in
        (--) ended=1 ;;
        (-*=*) ;;
        (-*) __kmerge_kind "$command" "$word" ;;
        (*)
            if [[ -z $ended ]] && __kmerge_is "${command:+$command }$word"; then
                command=${command:+$command }$word
            else
                (( place++ ))
            fi
            ;;
        esac
    done
    __kmerge_level "$command"
    if [[ -z $kind$ended && $PREFIX == --*=* ]]; then
        __kmerge_kind "$command" "${PREFIX%%=*}"
        compset -P '*='
    fi
    if [[ -z $kind$ended && $PREFIX == -* ]]; then
        _describe -o 'option' options
        return
    fi
    if [[ -z $kind ]] && (( $#below )); then
        _describe 'command' below
        return
    fi
    [[ -n $kind ]] || __kmerge_kind "$command" "$place"
    case $kind in
    ('='*) compadd -- ${(s: :)kind#=} ;;
    (rev*)
        compset -P '*..(.|)'
        names=("${(@f)$(__kmerge_names $kind)}")
        compadd -- $names
        if [[ $kind == rev-or-file ]] _files
        ;;
    (branch|remote)
        names=("${(@f)$(__kmerge_names $kind)}")
        compadd -- $names
        ;;
    (file) _files ;;
    esac
}

_git-kmerge() { _kmerge "$@"; }

if [[ ${funcstack[1]} == _kmerge ]]; then
    _kmerge "$@"
else
    compdef _kmerge kmerge git-kmerge
fi
"""

_FISH = """\
function __kmerge_seemly
    LC_ALL=C command grep -av -e '^-' -e '[[:cntrl:]]' \\
        -e \\xc2'['\\x80-\\x9f']' -e \\xd8\\x9c -e \\xef\\xbb\\xbf \\
        -e \\xe2\\x80'['\\x8b-\\x8f\\xa8-\\xae']' -e \\xe2\\x81'['\\xa0-\\xaf']'
end

function __kmerge_revs
    echo HEAD
    command git for-each-ref --format='%(refname:short)' 2>/dev/null | __kmerge_seemly
end

function __kmerge_branches
    command git for-each-ref --format='%(refname:short)' refs/heads 2>/dev/null | __kmerge_seemly
end

function __kmerge_remotes
    command git remote 2>/dev/null | __kmerge_seemly
end

# whether a command is typed, and which of its words comes next: `2`, or `2+` for any from there on
function __kmerge_at
    set -l words (commandline -opc)
    set -l command ''
    set -l place 1
    set -l behind ''
    for word in $words[2..-1]
        if test -n "$behind"
            set behind ''
            continue
        end
        switch $word
            case '-*'
                contains -- "$command $word" $__kmerge_values; and set behind 1
            case '*'
                set -l longer (string trim -- "$command $word")
                if contains -- $longer $__kmerge_commands
                    set command $longer
                else
                    set place (math $place + 1)
                end
        end
    end
    test "$command" = "$argv[1]"; or return 1
    set -q argv[2]; or return 0
    if string match -q '*+' -- $argv[2]
        test $place -ge (string trim -r -c + -- $argv[2])
    else
        test $place -eq $argv[2]
    end
end

complete -c kmerge -f
"""


def bash(levels: Sequence[Level]) -> str:
    """The script for bash; `git kmerge` is completed by what git's own completion calls."""

    def level(one: Level) -> str:
        options = " ".join(flag for option in one.options for flag in option.flags)
        below = " ".join(name for name, _ in one.below)
        return f"options=({options}) below=({below})"

    return "\n".join((_HEAD.format(name="bash"), _tables(levels, level), _NAMES, _BASH))


def zsh(levels: Sequence[Level]) -> str:
    """The script for zsh, as a file in a folder of $fpath or as one that is sourced."""

    def level(one: Level) -> str:
        options = (
            quote(f"{flag}:{option.about}") for option in one.options for flag in option.flags
        )
        below = (quote(f"{name}:{about}") for name, about in one.below)
        return f"options=({' '.join(options)}) below=({' '.join(below)})"

    head = "#compdef kmerge git-kmerge\n" + _HEAD.format(name="zsh")
    return "\n".join((head, _tables(levels, level), _NAMES, _ZSH))


def _tables(levels: Sequence[Level], level: Callable[[Level], str]) -> str:
    """What bash and zsh look up, in words that both understand."""
    names = " | ".join(quote(one.name) for one in levels if one.name)
    kinds = [(f"{one.name} {at}", kind) for one in levels for at, kind in _kinds(one) if kind]
    return "\n".join(
        (
            "__kmerge_is() {  # whether these words are a command",
            f"    case $1 in {names}) return 0 ;; esac",
            "    return 1",
            "}",
            "",
            "__kmerge_level() {  # the options of a command, and what stands below it",
            "    case $1 in",
            *(f"    {quote(one.name)}) {level(one)} ;;" for one in levels),
            "    esac",
            "}",
            "",
            "__kmerge_kind() {  # what stands behind an option, or at a place of a command",
            '    case "$1 $2" in',
            *(f"    {_pattern(words)}) kind={quote(kind)} ;;" for words, kind in kinds),
            "    *) kind='' ;;",
            "    esac",
            "}",
            "",
        )
    )


def _pattern(words: str) -> str:
    """`explain 2+` is any place from the second on: the places before it are told before it."""
    return f"{quote(words.rpartition(' ')[0] + ' ')}[0-9]*" if words.endswith("+") else quote(words)


def _kinds(one: Level) -> Iterable[tuple[str, str]]:
    yield from ((flag, option.kind) for option in one.options for flag in option.flags)
    for at, kind in enumerate(one.places, 1):
        yield (f"{at}+" if one.is_open and at == len(one.places) else str(at)), kind


def fish(levels: Sequence[Level]) -> str:
    """The script for fish."""
    values = (
        f"{one.name} {flag}"
        for one in levels for option in one.options if option.kind for flag in option.flags
    )  # fmt: skip
    lines = [
        _HEAD.format(name="fish"),
        f"set -g __kmerge_commands {' '.join(_fish(one.name) for one in levels if one.name)}",
        f"set -g __kmerge_values {' '.join(map(_fish, values))}",
        "",
        _FISH,
    ]
    for one in levels:
        here = f"complete -c kmerge -n {_fish(f'__kmerge_at {_fish(one.name)}')}"
        for name, about in one.below:
            lines.append(f"{here} -a {name} -d {_fish(about)}")
        for option in one.options:
            flags = (f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1]}" for f in option.flags)
            value = f" -r {_values(option.kind)}" if option.kind else ""
            lines.append(f"{here} {' '.join(flags)}{value} -d {_fish(option.about)}")
        for at, kind in _kinds(Level(one.name, (), (), one.places, one.is_open)):
            there = _fish(f"__kmerge_at {_fish(one.name)} {at}")
            lines.append(f"complete -c kmerge -n {there} {_values(kind)}")
    return "\n".join(lines) + "\n"


def _values(kind: str) -> str:
    """What fish offers for a kind."""
    if kind.startswith(WORDS):
        return f"-f -a {_fish(kind[1:])}"
    asked = {"rev": "revs", EITHER: "revs", "branch": "branches", "remote": "remotes"}.get(kind)
    found = f" -a '(__kmerge_{asked})'" if asked else ""
    return ("-F" if kind in (FILE, EITHER) else "-f") + found


def _fish(text: str) -> str:
    """A word in fish's own quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[Sequence[Level]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
