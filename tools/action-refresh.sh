#!/bin/sh
# The modes `update` and `sweep` of the action: `kmerge refresh` over the branches of pull requests.
#
# Only objects are fetched, into a bare repository that goes with the run: nothing is checked out, no
# hook, filter or driver runs, and no text of others becomes a command. All of it comes by environment:
#
#   KMERGE_ACTION_MODE        update (one pull request's branch) or sweep (those of all open ones)
#   KMERGE_ACTION_TOKEN       with which to push; GITHUB_TOKEN, the workflow's own, if there is none
#   KMERGE_ACTION_BRANCHES    sweep: only branches like these patterns, one a line; `*` takes slashes
#   KMERGE_ACTION_BRANCH      update: the branch (default: the head of the event's pull request)
#   KMERGE_ACTION_WITH        what is merged into them (default: the base, else the pushed branch)
#   KMERGE_ACTION_REMOTE_URL  the repository (default: $GITHUB_SERVER_URL/$GITHUB_REPOSITORY)
#   KMERGE_ACTION_COMMITTER   'NAME <MAIL>' of the merge commits (default: github-actions[bot])
#   KMERGE_ACTION_COMMAND     the kmerge to call; KMERGE_ACTION_GH: the gh, empty for none
#
# Exit status: 0 all was looked at (the outputs count what came of it), 2 it could not be.
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
    case $mode in update | sweep) ;; *) fail "the mode is neither update nor sweep" ;; esac
    if [ -z "$target" ]; then
        case ${GITHUB_REF:-} in
            refs/heads/*) target=${GITHUB_REF#refs/heads/} ;;
            *) fail "no target branch: this event is for none; give one (\`with\`)" ;;
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
        finish 0 0 0 "No branch to look at."
        return
    fi
    refresh
}

# -- which branches ----------------------------------------------------------------------------------

# Names of branches hold no blanks, no line ends and no signs of patterns: git sees to that.
take_branches() {
    git ls-remote --symref origin HEAD 'refs/heads/*' 'refs/pull/*/head' >"$work/remote" \
        2>"$work/said" || fail "the repository could not be read"
    sed -n 's,^[0-9a-f]*	refs/heads/,,p' "$work/remote" | sort >"$work/there"
    grep -qxFe "$target" "$work/there" || fail "there is no such target branch"
    : >"$work/wanted"
    "${mode}_wants"
    # no tag: what is wanted is a branch that is there; never the target itself, and never the main
    # branch of the repository, though it can be the head of a request onto another one
    default=$(sed -n 's,^ref: refs/heads/\(.*\)	HEAD$,\1,p' "$work/remote")
    sort -u "$work/wanted" | comm -12 "$work/there" - |
        grep -vxFe "$target" -e "${default:-$target}" >"$work/here" || :
    [ -s "$work/here" ] || return 0
    # one that is deleted meanwhile makes git give up: then all is asked anew
    { cat "$work/here" && printf '%s\n' "$target"; } |
        sed 's,.*,+refs/heads/&:refs/remotes/origin/&,' |
        git fetch --quiet --no-tags --no-recurse-submodules --no-write-fetch-head --stdin origin \
            2>>"$work/said"
}

update_wants() {
    about_event
    [ "$from" != fork ] || return 0
    branch=${KMERGE_ACTION_BRANCH:-${GITHUB_HEAD_REF:-}}
    [ -n "$branch" ] || fail "no branch: this event is for no pull request; give one (\`branch\`)"
    printf '%s\n' "$branch" >"$work/wanted"
}

# A fork's branch can have the name of one that is here.
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
    [ "$from" != fork ] || note "The branch of this pull request is in a fork: it is left alone."
}

sweep_wants() {
    if [ -n "$gh" ] && command -v "$gh" >/dev/null; then
        ask_forge
    elif [ -n "${KMERGE_ACTION_BRANCHES:-}" ]; then
        ask_refs
    else
        fail "which pull requests are open says gh, which is not here; name them (\`branches\`)"
    fi
    like_patterns <"$work/asked" >"$work/wanted"
}

# The forge knows which requests are open, onto which branch, from which repository.
ask_forge() {
    GH_HOST=${GITHUB_SERVER_URL:-https://github.com} GH_PROMPT_DISABLED=1
    GH_HOST=${GH_HOST#*://} GH_TOKEN=$KMERGE_ACTION_SECRET GH_ENTERPRISE_TOKEN=$KMERGE_ACTION_SECRET
    export GH_HOST GH_TOKEN GH_ENTERPRISE_TOKEN GH_PROMPT_DISABLED
    "$gh" api --method GET --paginate "repos/${GITHUB_REPOSITORY:-}/pulls" \
        -f state=open -f base="$target" -F per_page=100 --jq '.[] | if .head.repo.full_name ==
            .base.repo.full_name then "here \(.head.ref)" else "fork" end' \
        >"$work/open" 2>>"$work/said" ||
        fail "the pull requests could not be listed: that needs \`pull-requests: read\`"
    forks=$(grep -cx fork "$work/open") || :
    [ "$forks" = 0 ] || note "Pull requests of forks, left alone: $forks."
    sed -n 's/^here //p' "$work/open" >"$work/asked"
}

# What is the head of a pull request, open or not, onto this branch or not: so patterns must say more.
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

# -- the work, and what is told of it ----------------------------------------------------------------

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
    [ $code -le 2 ] && [ -n "$counts" ] || fail "kmerge refresh gave no result"
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
            printf '\n%s %s\n' "Pushed with the workflow's own token: that starts no checks." \
                "With a token of an App or of a person as \`token\` it does."
        fi
    } >"$work/summary"
    cat "$work/summary" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    said
    quietly cat "$work/summary"
    if [ "$2" != 0 ]; then
        printf '::warning title=kmerge refresh::%s\n' "branches that need a person: $2; see the summary"
    fi
}

is_own_token() {
    [ "${KMERGE_ACTION_TOKEN:-${GITHUB_TOKEN:-}}" = "${GITHUB_TOKEN:-}" ]
}

note() {
    printf '%s\n' "$1" >>"$work/notes"
}

main
