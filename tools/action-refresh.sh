#!/bin/sh
# The modes `update` and `sweep` of the action: `kmerge refresh` over the branches of pull requests.
#
# Only objects are fetched, into a bare repository that is deleted after the run: nothing is checked
# out, no hook, filter or driver runs, and no text of others runs as a command. The input comes from
# the environment:
#
#   KMERGE_ACTION_MODE        update (the branch of one pull request) or sweep (of all open ones)
#   KMERGE_ACTION_TOKEN       the token for pushing (default: GITHUB_TOKEN, the workflow's own)
#   KMERGE_ACTION_BRANCHES    sweep: only branches that match these patterns, one per line; `*`
#                             also matches slashes
#   KMERGE_ACTION_BRANCH      update: the branch (default: the head of the event's pull request)
#   KMERGE_ACTION_WITH        the branch to merge into these (default: the base, else the pushed branch)
#   KMERGE_ACTION_REMOTE_URL  the repository (default: $GITHUB_SERVER_URL/$GITHUB_REPOSITORY)
#   KMERGE_ACTION_COMMITTER   'NAME <MAIL>' of the merge commits (default: github-actions[bot])
#   KMERGE_ACTION_COMMAND     the kmerge to call; KMERGE_ACTION_GH: the gh to call, empty for none
#
# Exit status: 0 all branches were tried (the outputs count the results), 2 an error.
set -euf

title='kmerge refresh' command='kmerge refresh'
# shellcheck source=tools/action-common.sh
. "$(dirname -- "$0")/action-common.sh"

mode=${KMERGE_ACTION_MODE:-}
gh=${KMERGE_ACTION_GH-gh}
target=${KMERGE_ACTION_WITH:-${GITHUB_BASE_REF:-}}
bot='github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>'
newline='
'

main() {
    case $mode in update | sweep) ;; *) fail "the mode must be update or sweep" ;; esac
    if [ -z "$target" ]; then
        case ${GITHUB_REF:-} in
            refs/heads/*) target=${GITHUB_REF#refs/heads/} ;;
            *) fail "this event has no target branch; set the input \`with\`" ;;
        esac
    fi
    make_repository
    git config remote.origin.url "$url"
    tries=3
    until take_branches; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "the branches could not be fetched"
    done
    if [ ! -s "$work/here" ]; then
        finish 0 0 0 "There is no branch to update."
        return
    fi
    refresh
}

# -- which branches ----------------------------------------------------------------------------------

# Git allows no blanks, line ends or pattern characters in names of branches.
take_branches() {
    git ls-remote --symref origin HEAD 'refs/heads/*' 'refs/pull/*/head' >"$work/remote" \
        2>"$work/said" || fail "the branches could not be listed; check the input \`token\`"
    sed -n 's,^[0-9a-f]*	refs/heads/,,p' "$work/remote" | sort >"$work/there"
    grep -qxFe "$target" "$work/there" || fail "the target branch does not exist; check the input \`with\`"
    : >"$work/wanted"
    "${mode}_wants"
    # only branches that exist, and no tags; never the target itself, and never the main branch of the
    # repository, although it can be the head of a pull request for another branch
    default=$(sed -n 's,^ref: refs/heads/\(.*\)	HEAD$,\1,p' "$work/remote")
    sort -u "$work/wanted" | comm -12 "$work/there" - |
        grep -vxFe "$target" -e "${default:-$target}" >"$work/here" || :
    [ -s "$work/here" ] || return 0
    # git fails if a branch is deleted in the meantime; then everything is requested again
    { cat "$work/here" && printf '%s\n' "$target"; } |
        sed 's,.*,+refs/heads/&:refs/remotes/origin/&,' |
        git fetch --quiet --no-tags --no-recurse-submodules --no-write-fetch-head --stdin origin \
            2>>"$work/said"
}

update_wants() {
    about_event
    [ "$from" != fork ] || return 0
    branch=${KMERGE_ACTION_BRANCH:-${GITHUB_HEAD_REF:-}}
    [ -n "$branch" ] || fail "this event has no pull request; set the input \`branch\`"
    printf '%s\n' "$branch" >"$work/wanted"
}

# A branch of a fork can have the name of a branch of this repository.
about_event() {
    from=here
    case ${GITHUB_EVENT_NAME:-} in pull_request*) ;; *) return 0 ;; esac
    from=$(python3 -I -c '
import json, os
with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
    head = json.load(file)["pull_request"]["head"]["repo"]
name = (head or {}).get("full_name")
print("here" if name and name == os.environ["GITHUB_REPOSITORY"] else "fork")
' 2>/dev/null) || fail "the event could not be read"
    [ "$from" != fork ] || note "The branch of this pull request is in a fork and was not updated."
}

sweep_wants() {
    if [ -n "$gh" ] && command -v "$gh" >/dev/null; then
        ask_forge
    elif [ -n "${KMERGE_ACTION_BRANCHES:-}" ]; then
        ask_refs
    else
        fail "gh is needed to list the open pull requests; install it, or set the input \`branches\`"
    fi
    like_patterns <"$work/asked" >"$work/wanted"
}

# The server knows which pull requests are open, for which branch, and from which repository.
ask_forge() {
    GH_HOST=${GITHUB_SERVER_URL:-https://github.com} GH_PROMPT_DISABLED=1
    GH_HOST=${GH_HOST#*://} GH_TOKEN=$KMERGE_ACTION_SECRET GH_ENTERPRISE_TOKEN=$KMERGE_ACTION_SECRET
    export GH_HOST GH_TOKEN GH_ENTERPRISE_TOKEN GH_PROMPT_DISABLED
    "$gh" api --method GET --paginate "repos/${GITHUB_REPOSITORY:-}/pulls" \
        -f state=open -f base="$target" -F per_page=100 --jq '.[] | if .head.repo.full_name ==
            .base.repo.full_name then "here \(.head.ref)" else "fork" end' \
        >"$work/open" 2>>"$work/said" ||
        fail "the pull requests could not be listed; the workflow needs \`pull-requests: read\`"
    forks=$(grep -cx fork "$work/open") || :
    [ "$forks" = 0 ] || note "Pull requests of forks, not updated: $forks."
    sed -n 's/^here //p' "$work/open" >"$work/asked"
}

# List the head of every pull request, also of closed ones and for other branches; patterns choose.
ask_refs() {
    awk -F '\t' '
        $2 ~ /^refs\/pull\/[0-9]+\/head$/ { asked[$1] = 1 }
        $2 ~ /^refs\/heads\// { tip[substr($2, 12)] = $1 }
        END { for (name in tip) if (tip[name] in asked) print name }' "$work/remote" >"$work/asked"
}

like_patterns() {
    IFS=$newline
    while read -r name; do
        for pattern in ${KMERGE_ACTION_BRANCHES:-*}; do
            # shellcheck disable=SC2254  # it is a pattern
            case $name in $pattern) printf '%s\n' "$name" && break ;; esac
        done
    done
}

# -- the work and its report -------------------------------------------------------------------------

refresh() {
    IFS=$newline
    # shellcheck disable=SC2046  # one word a line, and `set -f`
    set -- $(cat "$work/here")
    code=0
    "${KMERGE_ACTION_COMMAND:-kmerge}" refresh --with "origin/$target" --push origin --format markdown \
        --committer "${KMERGE_ACTION_COMMITTER:-$bot}" -- "$@" >"$work/page" 2>>"$work/said" ||
        code=$?
    counts=$(sed -n 's/^\([0-9]*\) updated, \([0-9]*\) not merged, \([0-9]*\) unchanged.*/\1 \2 \3/p' \
        "$work/page" | head -n 1)
    [ $code -le 2 ] && [ -n "$counts" ] || fail "kmerge refresh had no result; its errors are in the log"
    IFS=' '
    # shellcheck disable=SC2086  # three numbers
    finish $counts
}

# UPDATED LEFT UNCHANGED [WORDS]: the outputs and the page.
finish() {
    printf 'updated=%s\nfailed=%s\nunchanged=%s\n' "$1" "$2" "$3" >>"${GITHUB_OUTPUT:-/dev/null}"
    {
        if [ -f "$work/page" ]; then cat "$work/page"; else printf '%s\n' "${4:-}"; fi
        if [ -f "$work/notes" ]; then printf '\n' && sort -u "$work/notes"; fi
        if [ "$1" != 0 ] && is_own_token; then
            printf '\n%s %s\n' "The branches were pushed with the workflow's own token, so no checks start." \
                "To start checks, set the input \`token\` to a token of an App or a person."
        fi
    } >"$work/summary"
    cat "$work/summary" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    said
    quietly cat "$work/summary"
    if [ "$2" != 0 ]; then
        printf '::warning title=kmerge refresh::%s\n' "branches that could not be updated: $2; see the summary"
    fi
}

is_own_token() {
    [ "${KMERGE_ACTION_TOKEN:-${GITHUB_TOKEN:-}}" = "${GITHUB_TOKEN:-}" ]
}

note() {
    printf '%s\n' "$1" >>"$work/notes"
}

main
