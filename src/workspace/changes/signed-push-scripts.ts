import { COMMIT, OPENING, PRINT_PUSHED, PUSH_TO_HOST } from "./change-scripts.ts";

const FETCH = `g -c http.followRedirects=false fetch --quiet --no-tags --no-write-fetch-head \\
  --no-recurse-submodules --update-shallow -- "$3"`;

/** Sets `$remote` to the head of the branch `$4` of `$3`, which is fetched if the clone lacks it. Empty: there is none. */
const READ_REMOTE = `
g -c http.followRedirects=false ls-remote --quiet -- "$3" "refs/heads/$4" > "$SCRATCH/refs" || exit 95
remote=
while read -r id ref; do
  [ "$ref" != "refs/heads/$4" ] || remote=$id
done < "$SCRATCH/refs"
if [ -n "$remote" ]; then
  g cat-file -e "$remote^{commit}" 2>/dev/null || ${FETCH} "refs/heads/$4" || exit 95
fi
`;

/** Only commits of Errand that the agent has replaced may go, and only from the run's own branch (`$5`). */
const CHECK_REMOTE = `
if [ -n "$remote" ] && ! g merge-base --is-ancestor "$remote" "$head"; then
  [ -n "$5" ] || exit 96
  others=$(g log --no-show-signature --format=%ae "$remote" --not "$head" $upstream --remotes |
    grep -vxF -e "$GIT_AUTHOR_EMAIL" | head -n 1)
  [ -z "$others" ] || exit 96
fi
`;

/** Changes the message of a commit that is no merge: it names the people whose commit it was, as the host will be the author. */
const TRAILERS = `
trailer() {
  [ -n "$2" ] || return 0
  g interpret-trailers --no-divider --if-exists addIfDifferent --if-missing add --trailer "$1: $2" \\
    < "$SCRATCH/message" > "$SCRATCH/next" && mv "$SCRATCH/next" "$SCRATCH/message" || exit 93
}
add_trailers() {
  own="$GIT_AUTHOR_NAME <$GIT_AUTHOR_EMAIL>"
  author=$(sed -n 's/^author \\(.*>\\) .*$/\\1/p' "$SCRATCH/header")
  trailer Co-authored-by "$CO_AUTHOR"
  [ "$author" = "$own" ] || trailer Co-authored-by "$author"
  [ -z "$1" ] || trailer Signed-off-by "$own"
}
`;

/** Writes the difference of the tree `$2` from the tree `$1` to `$SCRATCH/next`. */
const COMPARE = `
compare() {
  g diff-tree -r -z --no-renames --no-ext-diff --ignore-submodules=none "$1" "$2" > "$SCRATCH/next" || exit 93
}
compare_parents() {
  from=
  for parent in $parents; do
    compare "$parent^{tree}" "$tree"
    [ -z "$from" ] || [ "$(wc -c < "$SCRATCH/next")" -lt "$(wc -c < "$SCRATCH/diff")" ] || continue
    mv "$SCRATCH/next" "$SCRATCH/diff"
    from=$(g rev-parse "$parent^{tree}") || exit 93
  done
  [ -z "$from" ] || return 0
  compare "$(g hash-object -t tree /dev/null)" "$tree"
  mv "$SCRATCH/next" "$SCRATCH/diff"
  from=-
}
`;

/**
 * Commits, and prints the commits that the branch `$4` of `$3` is to get: a line with the last one, the head of the branch
 * and their number. If they are at most `$7`, each follows with its message and its difference from the nearest parent, and
 * then the contents of all files. `$6` adds the line Signed-off-by.
 */
export const PRINT_NEW_COMMITS = `${OPENING}${COMMIT}${READ_REMOTE}${CHECK_REMOTE}${TRAILERS}${COMPARE}
g rev-list --reverse --topo-order "$head" --not "$2" $upstream --remotes $remote > "$SCRATCH/list" || exit 93
count=$(wc -l < "$SCRATCH/list")
printf '%s %s %d\\n' "$head" "\${remote:--}" "$count"
[ "$count" -le "$7" ] || exit 0
: > "$SCRATCH/diffs"
while read -r each; do
  g cat-file commit "$each" > "$SCRATCH/commit" || exit 93
  sed -n '/^$/q;p' "$SCRATCH/commit" > "$SCRATCH/header"
  sed '1,/^$/d' "$SCRATCH/commit" > "$SCRATCH/message"
  tree=$(sed -n 's/^tree //p' "$SCRATCH/header")
  parents=$(sed -n 's/^parent //p' "$SCRATCH/header" | tr '\\n' ' ')
  case $parents in *' '*' ') ;; *) add_trailers "$6" ;; esac
  compare_parents
  printf '%s %s %s %d %d %s\\n' "$each" "$tree" "$from" "$(wc -c < "$SCRATCH/message")" \\
    "$(wc -c < "$SCRATCH/diff")" "$parents"
  cat "$SCRATCH/message" "$SCRATCH/diff"
  cat "$SCRATCH/diff" >> "$SCRATCH/diffs"
done < "$SCRATCH/list"
tr '\\000' '\\n' < "$SCRATCH/diffs" | sed -n 's/^:[0-7]* 1[02][0-7]* [0-9a-f]* \\([0-9a-f]*\\) [A-Z]$/\\1/p' |
  sort -u | g cat-file --batch
`;

/**
 * Takes the commit `$6`, which the host has made of `$7`, into the clone and pushes it. `$5` says what the branch must still
 * be if commits of it are replaced.
 */
export const PUSH_MADE = `${OPENING}
head=$6
upstream=$(g rev-parse --verify --quiet 'refs/remotes/origin/HEAD^{commit}')
g cat-file -e "$head^{commit}" 2>/dev/null || ${FETCH} "$head" || exit 95
[ "$(g rev-parse "$head^{tree}")" = "$(g rev-parse "$7^{tree}")" ] || exit 93
g update-ref -m 'Signed by the host' HEAD "$head" "$7" || exit 93
${PUSH_TO_HOST} \${5:+"$5"} -- "$3" "$head:refs/heads/$4" >&2 || exit 94
${PRINT_PUSHED}`;
