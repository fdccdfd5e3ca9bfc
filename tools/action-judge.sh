#!/bin/sh
# The mode `judge` of the action: do finished merges contain the changes of both sides?
#
# It checks the merge commits of an event, and the result of a merge button: a merge, a squash or a
# rebase. Only objects are fetched, into a repository that is deleted after the run. The only files are
# the CustomResourceDefinitions of the target branch, and no text of others runs as a command. A change
# counts as intended only by the attribute `kmerge-check` of the target branch before the merge, or by a
# trailer of the checked commit; both are listed. The input comes from the environment:
#
#   GITHUB_EVENT_NAME         pull_request, push or merge_group
#   KMERGE_ACTION_TYPE        the type of the event: closed, or another one
#   KMERGE_ACTION_NUMBER      the number of the pull request
#   KMERGE_ACTION_SHA         the head commit of the pull request
#   KMERGE_ACTION_MERGED      closed: `true` if the pull request was merged
#   KMERGE_ACTION_RESULT      closed: the commit that the button made (the last one of a rebase)
#   KMERGE_ACTION_BEFORE      push, merge_group: the old commit; KMERGE_ACTION_AFTER: the new commit
#   KMERGE_ACTION_TOKEN       the token for reading (default: GITHUB_TOKEN, the workflow's own)
#   KMERGE_ACTION_REMOTE_URL  the repository (default: $GITHUB_SERVER_URL/$GITHUB_REPOSITORY)
#   KMERGE_ACTION_COMMAND     the kmerge to call
#
# Exit status: 0 no change is lost (there may be warnings), 1 there are errors, 2 an error of the check.
set -euf

title='kmerge judge' command='kmerge check'
# shellcheck source=tools/action-common.sh
. "$(dirname -- "$0")/action-common.sh"

annotations=50 # GitHub shows ten of a kind
rows=300       # of the report of one merge
target=refs/remotes/origin/target
judged=0 unknown=0

main() {
    case ${GITHUB_EVENT_NAME:-} in
        pull_request | pull_request_target) kind=request ;;
        push | merge_group) kind=range ;;
        *) fail "the event must be pull_request, push or merge_group" ;;
    esac
    make_repository
    : >"$work/page"
    : >"$work/github"
    "judge_$kind"
    tell
    [ "$errors" = 0 ] || return 1
    [ "$unknown" = 0 ] || return 2
}

# -- the merges to check -----------------------------------------------------------------------------

judge_request() {
    number=${KMERGE_ACTION_NUMBER:-} base=refs/heads/${GITHUB_BASE_REF:-}
    case $number in '' | *[!0-9]*) fail "this event has no pull request" ;; esac
    git check-ref-format "$base" || fail "the base is not a valid branch name"
    if [ "${KMERGE_ACTION_TYPE:-}" = closed ] && [ "${KMERGE_ACTION_MERGED:-}" != true ]; then
        note "The pull request was not merged."
        return
    fi
    # there may be no test merge
    fetch "+$base:$target" "+refs/pull/$number/*:refs/pull/*" || cannot_fetch
    head=$(commit_of refs/pull/head) || cannot_fetch
    sha=${KMERGE_ACTION_SHA:-}
    if is_id "$sha" && git merge-base --is-ancestor "$sha" "$head" 2>/dev/null; then
        head=$sha
    fi
    if [ "${KMERGE_ACTION_TYPE:-}" = closed ]; then
        judge_result
        return
    fi
    be_alone
    go_to "$target"
    judge_merges "$target..$head"
    judge_test_merge
}

# The server keeps an old test merge, for example while there are conflicts.
judge_test_merge() {
    if ! tested=$(commit_of refs/pull/merge); then
        note "The server has not made a test merge yet, for example because there are conflicts."
    elif [ "$(commit_of "$tested^2")" != "$head" ]; then
        note "The test merge of the server is for another commit and was not checked."
    else
        judge_merge "$tested" "the test merge"
    fi
}

# A button makes a merge commit, a single commit, or a copy of each commit.
judge_result() {
    result=${KMERGE_ACTION_RESULT:-}
    is_id "$result" || fail "the event does not name the merge commit"
    commit_of "$result" >/dev/null || fetch "+$result:refs/heads/result" || cannot_fetch
    be_alone
    if commit_of "$result^2" >/dev/null; then
        go_to "$result^1"
        judge_merges "$result^!"
    elif git merge-base --is-ancestor "$head" "$result"; then
        note "The target branch contains the commits of the pull request unchanged."
    else
        judge_linear
    fi
}

judge_linear() {
    who='%at %ae %an %s'
    git log --no-merges --format="$who" "$result..$head" >"$work/commits"
    all=$(wc -l <"$work/commits") rebased=0 what="a squash"
    while [ "$rebased" -lt "$all" ] && is_of_request "$result~$rebased"; do
        rebased=$((rebased + 1))
    done
    [ "$rebased" = 0 ] || what="a rebase of $rebased of $((all)) commits"
    ours=$(commit_of "$result~$((rebased > 0 ? rebased : 1))") ||
        fail "the commit before the pull request was not found"
    base=$(git merge-base "$ours" "$head") || fail "the pull request and the target branch have no common history"
    go_to "$ours"
    judge "$what, $result" "$base" "$ours" "$head" "$result" \
        --merged "$base" "$ours" "$head" "$result"
}

# A rebase keeps author, date and subject; a squash has a date of its own.
is_of_request() {
    same=$(git show -s --format="$who" "$1" 2>/dev/null) && grep -qxFe "$same" "$work/commits"
}

judge_range() {
    before=${KMERGE_ACTION_BEFORE:-} after=${KMERGE_ACTION_AFTER:-}
    case ${GITHUB_REF:-} in refs/heads/*) ;; *) fail "this event is not for a branch" ;; esac
    case $after in
        *[!0]*) ;;
        ?*)
            note "The branch was deleted."
            return
            ;;
    esac
    is_id "$after" || fail "the event does not name the pushed commit"
    fetch "+$after:refs/heads/after" +HEAD:refs/heads/main || cannot_fetch
    if ! is_id "$before" || ! fetch "+$before:refs/heads/before"; then
        note "The commit before the push is missing, so the branch was compared with the main branch."
        before=$(git merge-base refs/heads/main "$after") ||
            fail "the branch and the main branch have no common history"
    fi
    be_alone
    go_to "$before"
    judge_merges "$before..$after"
    single=$(git rev-list --count --first-parent --max-parents=1 "$before..$after")
    [ "$single" = 0 ] || note "Commits with one parent: $single. They were not checked, because this event does not show
whether they come from a squash or a rebase; use the event \`pull_request\` with the type \`closed\`."
}

# -- commits -----------------------------------------------------------------------------------------

is_id() {
    case $1 in '' | *[!0-9a-f]*) return 1 ;; *[!0]*) ;; *) return 1 ;; esac
}

commit_of() {
    git rev-parse --verify --quiet --end-of-options "$1^{commit}"
}

fetch() {
    git fetch --quiet --no-tags --no-recurse-submodules --no-write-fetch-head -- "$url" "$@" \
        >>"$work/said" 2>&1
}

cannot_fetch() {
    fail "the commits could not be fetched; the workflow needs \`contents: read\`"
}

# From here on no setting of the machine has an effect, and the token is removed.
be_alone() {
    unset KMERGE_ACTION_SECRET KMERGE_ACTION_TOKEN GITHUB_TOKEN \
        GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_KEY_1 GIT_CONFIG_VALUE_0 GIT_CONFIG_VALUE_1 \
        KMERGE_CHECK_IGNORE KMERGE_FAVOR KMERGE_RULES KMERGE_CONFLICT_STYLE
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1
    git config core.attributesFile /dev/null
    # a working tree that stays empty: then git reads the attributes in the index
    export GIT_WORK_TREE="$work/tree"
    mkdir "$GIT_WORK_TREE"
    cd "$GIT_WORK_TREE"
}

# Use the attributes of a commit: kmerge reads some of them from the index, and `kmerge-check` from the
# branch that the CI service reports as the target.
go_to() {
    git update-ref "$target" "$(commit_of "$1")"
    git read-tree "$target"
    export CI=true GITHUB_BASE_REF=target
    if git grep -qF kmerge-crd "$target" -- ':(glob)**/.gitattributes'; then
        lay_definitions
    fi
}

# kmerge reads the definitions of custom resources that an attribute names from files.
lay_definitions() {
    git ls-files | git check-attr --stdin kmerge-crd | sed 's/^.*: //' | tr , '\n' | sort -u |
        while read -r place; do
            git --literal-pathspecs ls-files -z -- "$place" | git checkout-index -f -z --stdin
        done 2>>"$work/said"
}

# -- the check ---------------------------------------------------------------------------------------

judge_merges() {
    more=$(git rev-list --reverse --min-parents=3 "$1") || fail "the merges could not be listed"
    merges=$(git rev-list --reverse --min-parents=2 --max-parents=2 "$1")
    for commit in $more; do
        note "Not checked: $commit merges more than two commits."
        printf '::warning title=%s::not checked: %s merges more than two commits\n' \
            "$title" "$commit" >>"$work/github"
    done
    for commit in $merges; do
        judge_merge "$commit" "a merge"
    done
}

judge_merge() {
    base=$(git merge-base "$1^1" "$1^2") || base=$(git hash-object -t tree /dev/null)
    judge "$2, $1" "$base" "$1^1" "$1^2" "$1" --merge-of "$1"
}

# judge NAME BASE OURS THEIRS RESULT OPTION...
judge() {
    name=$1
    meant "$2" "$3" "$4" "$5" >"$work/told"
    shift 5
    code=0
    ask text "$@" >"$work/text" || code=$?
    cat "$work/text" >>"$work/told"
    : >"$work/found"
    tail -n 1 "$work/text" | grep -q ' checked, nothing found' || ask github "$@" >"$work/found" || :
    grep -E '^::(error|warning|notice) ' "$work/found" >>"$work/github" || :
    # a program that crashes also ends with 1
    if [ $code = 0 ] || { [ $code = 1 ] && grep -q '^::error ' "$work/found"; }; then
        judged=$((judged + 1))
        note "Checked: $name."
    else
        unknown=$((unknown + 1))
        note "Could not be checked: $name."
        printf '::error title=%s::could not be checked: %s\n' "$title" "$name" >>"$work/github"
    fi
    # as text, because names may contain anything
    head -n "$rows" "$work/told" | cut -c 1-400 | sed 's/^/    /' >>"$work/page"
    [ "$(wc -l <"$work/told")" -le "$rows" ] || printf '    ...\n' >>"$work/page"
}

ask() {
    form=$1
    shift
    "${KMERGE_ACTION_COMMAND:-kmerge}" check "$@" --format "$form" 2>>"$work/said"
}

# List the reasons to accept a lost change: attributes of changed files, and trailers.
meant() {
    { git diff-tree -r --name-only "$1" "$2" && git diff-tree -r --name-only "$1" "$3"; } | sort -u |
        git check-attr --stdin kmerge-check | grep -v ': unspecified$' >"$work/attributes" || :
    sed -n '1,20s/^/attribute of the target branch: /p' "$work/attributes"
    [ "$(wc -l <"$work/attributes")" -le 20 ] || printf '... and attributes of more files\n'
    git show -s --format='%(trailers:key=Kmerge-Dropped,unfold)' "$4" |
        LC_ALL=C sed -n 's/[^ -~]/?/g; s/^./trailer of the commit: &/p'
}

# -- the report --------------------------------------------------------------------------------------

# Notes contain only our own words, numbers and ids of commits.
note() {
    printf '\n%s\n\n' "$1" >>"$work/page"
}

count() {
    grep -c "^::$1 file=" "$work/github" || :
}

tell() {
    errors=$(count error) warnings=$(count warning)
    printf 'judged=%s\nerrors=%s\nwarnings=%s\n' "$judged" "$errors" "$warnings" \
        >>"${GITHUB_OUTPUT:-/dev/null}"
    {
        printf '### Merges checked: %s. Errors: %s, warnings: %s\n' "$judged" "$errors" "$warnings"
        head -c 600000 "$work/page"
    } >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    said
    quietly cat "$work/page"
    head -n "$annotations" "$work/github"
}

main
