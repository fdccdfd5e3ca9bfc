# Functions for the scripts of the action: a repository that is deleted after the run, a token for one
# server, and a log in which the runner finds no commands except our own. A script that sources this
# file first sets `title`, the name of the step, and `command`, the program that it calls.
# shellcheck shell=sh disable=SC2154
set -euf

url=${KMERGE_ACTION_REMOTE_URL:-${GITHUB_SERVER_URL:-https://github.com}/${GITHUB_REPOSITORY:-}}

# Nothing is checked out, and no hook, filter or driver runs: the repository has only objects.
make_repository() {
    # shellcheck disable=SC2046  # names of variables
    unset $(git rev-parse --local-env-vars) GIT_ASKPASS SSH_ASKPASS GIT_TRACE_REDACT
    work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/kmerge-run.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM HUP
    export TMPDIR="$work" GIT_DIR="$work/repo.git" LC_ALL=C
    export GIT_TERMINAL_PROMPT=0 GIT_DEFAULT_REF_FORMAT=files GIT_DEFAULT_HASH=sha1
    git init --quiet --bare --template= "$GIT_DIR"
    cd "$GIT_DIR"
    git config core.hooksPath /dev/null
    # git 2.54 runs hooks of the runner's configuration, too
    git config --name-only --get-regexp '^hook\..*\.event$' | while IFS= read -r key; do
        git config "${key%event}enabled" false
    done
    git config gc.auto 0
    lend_token
}

# Git asks a helper for the token, and only for this server. The token is only in the environment, and
# in no URL, argument, file or log.
lend_token() {
    KMERGE_ACTION_SECRET=${KMERGE_ACTION_TOKEN:-${GITHUB_TOKEN:-}}
    export KMERGE_ACTION_SECRET
    case $url in
        https://* | http://*) ;;
        *) return 0 ;;
    esac
    host=${url#*://}
    server=${url%%://*}://${host%%/*}
    # shellcheck disable=SC2016  # git's shell reads it, not this one
    export GIT_CONFIG_COUNT=2 \
        GIT_CONFIG_KEY_0=credential.helper GIT_CONFIG_VALUE_0='' \
        GIT_CONFIG_KEY_1="credential.$server.helper" \
        GIT_CONFIG_VALUE_1='!lend() { if [ "$1" = get ]; then
            printf "username=x-access-token\npassword=%s\n" "$KMERGE_ACTION_SECRET"; fi; }; lend'
}

# The runner reads no line of this as a command, because nobody can guess the word that ends it.
quietly() {
    printf '::stop-commands::%s\n' "${work##*/}"
    "$@"
    printf '\n::%s::\n' "${work##*/}"
}

# Print the errors of called programs: the runner would find `##[..]` anywhere in a line.
said() {
    [ ! -s "$work/said" ] || quietly head -c 20000 "$work/said"
}

fail() {
    [ -z "${work:-}" ] || said
    printf '::error title=%s::%s\n' "$title" "$1"
    printf '%s\n' "\`$command\` did not run: $1." >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    exit 2
}
