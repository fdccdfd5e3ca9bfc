#!/bin/sh
# The mode `check` of the action: show the result of merging a pull request, without making the merge.
#
# The two commits are fetched as objects into a bare repository that is deleted after the run. Nothing
# is checked out, nothing is pushed, and no text of others runs as a command. The settings for merging
# files are read only from the target branch. The input comes from the environment:
#
#   KMERGE_ACTION_FAIL_ON     conflict (default), improved (or a conflict), never
#   KMERGE_ACTION_NUMBER      the pull request (default: the number in $GITHUB_REF)
#   KMERGE_ACTION_SHA         the commit of the event; used if the pull request still contains it
#   KMERGE_ACTION_HEAD        a branch of the repository, or a full ref, instead of a pull request
#   KMERGE_ACTION_BASE        the branch to merge into (default: $GITHUB_BASE_REF)
#   KMERGE_ACTION_TOKEN       the token for reading (default: GITHUB_TOKEN, the workflow's own)
#   KMERGE_ACTION_REMOTE_URL  the repository (default: $GITHUB_SERVER_URL/$GITHUB_REPOSITORY)
#   KMERGE_ACTION_COMMAND     the kmerge to call
#
# Exit status: 0 success, 1 failure according to FAIL_ON, 2 an error.
set -euf

title='kmerge check' command='kmerge preview'
# shellcheck source=tools/action-common.sh
. "$(dirname -- "$0")/action-common.sh"

fail_on=${KMERGE_ACTION_FAIL_ON:-conflict}
annotations=50 # GitHub shows ten of a kind
rows=300       # of the log

main() {
    case $fail_on in
        conflict | improved | never) ;;
        *) fail "the input \`fail-on\` must be conflict, improved or never" ;;
    esac
    choose_refs
    make_repository
    fetch_both
    preview
    tell
    [ "$fail_on" != never ] || return 0
    [ "$conflicts" = 0 ] || return 1
    [ "$fail_on" != improved ] || [ "$improved" = 0 ] || return 1
}

# -- what is merged into what ------------------------------------------------------------------------

# The names in the report are our own, because anybody can choose the names of branches.
choose_refs() {
    base=${KMERGE_ACTION_BASE:-${GITHUB_BASE_REF:-}}
    [ -n "$base" ] || fail "this event has no pull request; set the inputs \`base\` and \`head\`"
    number=${KMERGE_ACTION_NUMBER:-}
    if [ -z "$number" ]; then
        case ${GITHUB_REF:-} in
            refs/pull/*/merge) number=${GITHUB_REF#refs/pull/} number=${number%/merge} ;;
        esac
    fi
    case ${KMERGE_ACTION_HEAD:-} in
        '')
            case $number in
                '' | *[!0-9]*) fail "this event has no pull request; set the inputs \`base\` and \`head\`" ;;
            esac
            head=refs/pull/$number/head name=pull/$number
            ;;
        refs/*) head=$KMERGE_ACTION_HEAD name=head ;;
        *) head=refs/heads/$KMERGE_ACTION_HEAD name=head ;;
    esac
    for ref in "refs/heads/$base" "$head"; do
        git check-ref-format "$ref" || fail "the input \`base\` or \`head\` is not a valid branch name"
    done
}

fetch_both() {
    git fetch --quiet --no-tags --no-recurse-submodules --no-write-fetch-head -- "$url" \
        "+refs/heads/$base:refs/heads/target" "+$head:refs/heads/$name" \
        >"$work/said" 2>&1 ||
        fail "the branches could not be fetched; the workflow needs \`contents: read\`"
    unset KMERGE_ACTION_SECRET KMERGE_ACTION_TOKEN GITHUB_TOKEN \
        GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_KEY_1 GIT_CONFIG_VALUE_0 GIT_CONFIG_VALUE_1
    sha=${KMERGE_ACTION_SHA:-}
    case $sha in '' | *[!0-9a-f]*) return 0 ;; esac
    [ -z "${KMERGE_ACTION_HEAD:-}" ] || return 0
    # annotations refer to lines of the event's commit
    if git merge-base --is-ancestor "$sha" "refs/heads/$name" 2>/dev/null; then
        git update-ref "refs/heads/$name" "$sha"
    fi
}

# -- the merge and its report ------------------------------------------------------------------------

preview() {
    code=0
    "${KMERGE_ACTION_COMMAND:-kmerge}" preview "$name" --into target --format "text=$work/text" \
        --format "json=$work/json" --format "markdown=$work/page" --format "github=$work/github" \
        >>"$work/said" 2>&1 || code=$?
    [ $code -le 1 ] && [ -s "$work/json" ] || fail "kmerge preview had no result; its errors are in the log"
}

# Count only lines that kmerge itself writes: a text in JSON has no line ends.
count() {
    grep -cxE "          \"result\": \"($1)\"," "$work/json" || :
}

tell() {
    conflicts=$(count conflict) improved=$(count improved)
    clean=true
    [ $code = 0 ] || clean=false
    printf 'clean=%s\nconflicts=%s\nresolved=%s\nimproved=%s\n' \
        "$clean" "$conflicts" "$(count 'resolved|moved')" "$improved" >>"${GITHUB_OUTPUT:-/dev/null}"
    cat "$work/page" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    head -n "$rows" "$work/text" | cut -c 1-400 >"$work/log"
    tail -n 1 "$work/text" >"$work/last"
    said
    quietly cat "$work/log"
    [ "$(wc -l <"$work/text")" -le "$rows" ] || quietly cat "$work/last"
    head -n "$annotations" "$work/github"
}

main
