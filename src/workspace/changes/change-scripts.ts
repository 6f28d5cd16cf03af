import { ELSEWHERE } from "./elsewhere-script.ts";
import { STAGING } from "./staging-script.ts";

/**
 * Scripts for the sandbox. They run in the folder `$1` of a repository that its agent may have manipulated in any way. Git
 * is called with settings that take precedence over the repository's own. Anything that the repository still makes git
 * run is in the sandbox, like the agent.
 */

/** How a script reports why it failed. */
export const SCRIPT_ENDS = {
  noGit: 91,
  noRepository: 92,
  unreadable: 93,
  notPushed: 94,
  notFetched: 95,
  notOurs: 96,
} as const;

export const OPENING = `
command -v git >/dev/null 2>&1 || exit 91
cd -P -- "$1" 2>/dev/null || exit 92
[ -e .git ] || exit 92
export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"
g() {
  git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.untrackedCache=false -c core.pager=cat \\
    -c core.attributesFile=/dev/null -c core.quotePath=true -c commit.gpgsign=false -c gc.auto=0 \\
    -c maintenance.auto=false -c credential.helper= -c safe.directory='*' -c advice.addEmbeddedRepo=false "$@"
}
index=$(g rev-parse --git-path index) || exit 92
objects=$(g rev-parse --git-path objects) || exit 92
base=$2
${STAGING}
`;

/** Works on a copy of the index. It keeps its time, by which git recognises files that changed in the same second. */
const OWN_INDEX = `
[ -n "$OBJECTS" ] || { OBJECTS="$SCRATCH/objects" && mkdir "$OBJECTS"; } || exit 93
export GIT_INDEX_FILE="$SCRATCH/index" GIT_OBJECT_DIRECTORY="$OBJECTS" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
cp -p -- "$index" "$GIT_INDEX_FILE" 2>/dev/null
`;

/** Sets `$tree` to the current files. Index and repository do not change. */
const TREE = `${OWN_INDEX}
stage
tree=$(g write-tree 2>/dev/null)
if [ -z "$tree" ]; then
  rm -f "$GIT_INDEX_FILE"
  stage
  tree=$(g write-tree) || exit 93
fi
`;

/** Prints the id of the tree. `$2` is the commit that was cloned, as in all scripts. */
export const PRINT_SNAPSHOT = `${OPENING}${TREE}
printf '%s\\n' "$tree"
`;

/** How much of each list is printed. */
export const LIST_BYTES = 262_144;
/** How much is kept of the list of the files that differed from the commit before the agent started. */
export const GIVEN_BYTES = 2 ** 20;

/**
 * Prints what differs from the commit before the agent starts: the time, the lengths of three lists, and the lists: the
 * files, the repositories inside this one, and what is left out. Git stages all files anew, because after a clone it trusts
 * the index and overlooks what its filters would change.
 */
export const PRINT_GIVEN = `${OPENING}${OWN_INDEX}
keep_repositories=1 names_left_out=1
stage
g add --renormalize . >/dev/null 2>&1
g diff-index --cached --name-only --no-renames "$base" > "$SCRATCH/paths" || exit 93
identify | head -c ${GIVEN_BYTES} > "$SCRATCH/files"
head -c ${LIST_BYTES} "$SCRATCH/own-repositories" > "$SCRATCH/own"
printf '%s %d %d %d\\n' "$(date +%s)" "$(wc -c < "$SCRATCH/files")" "$(wc -c < "$SCRATCH/own")" \\
  "$(wc -c < "$SCRATCH/left")"
cat "$SCRATCH/files" "$SCRATCH/own" "$SCRATCH/left"
`;

/**
 * Prints, since `$3`: the number of files, and the lengths of three lists; after that line the lists (status and name,
 * lines and name, what is left out) and the patch.
 */
export const DIFF = `${OPENING}${ELSEWHERE}
names_left_out=1
${TREE}
list_candidates
list_elsewhere
sed 's/^\\([a-z]*\\) [0-9a-f]* [0-9a-f]* /\\1 /' "$SCRATCH/elsewhere" | tr '\\n' '\\000' | head -c 65536 >> "$SCRATCH/left"
from=$(g rev-parse --verify --quiet "$3^{tree}") || exit 93
files=$(g diff-tree -r -M --name-only -z "$from" "$tree" | tr -dc '\\000' | wc -c) || exit 93
g diff-tree -r -M --name-status -z "$from" "$tree" | head -c ${LIST_BYTES} > "$SCRATCH/names"
g diff-tree -r -M --numstat -z "$from" "$tree" | head -c ${LIST_BYTES} > "$SCRATCH/lines"
printf '%d %d %d %d\\n' "$files" "$(wc -c < "$SCRATCH/names")" "$(wc -c < "$SCRATCH/lines")" \\
  "$(wc -c < "$SCRATCH/left")"
cat "$SCRATCH/names" "$SCRATCH/lines" "$SCRATCH/left"
g diff-tree -r -p -M --binary --full-index --no-ext-diff --no-textconv --no-color "$from" "$tree"
`;

/** How many files outside of what may be changed are printed. */
const OUTSIDE_MAX = 100;

/**
 * Prints the files that differ from the clone and from each head of the host that was merged, except those of the pathspecs
 * from `$3` on.
 */
export const OUTSIDE = `${OPENING}${TREE}
shift 2
differing() {
  from=$1
  shift
  g diff-tree -r --no-renames --name-only -z "$from" "$tree" -- ':(top)' "$@" | as_lines | sort
}
differing "$base" "$@" > "$SCRATCH/outside"
head=$(g rev-parse --verify --quiet 'HEAD^{commit}')
: > "$SCRATCH/merged"
[ -z "$head" ] ||
  g for-each-ref --format='%(objectname)' --merged="$head" refs/remotes > "$SCRATCH/merged" || exit 93
while read -r each; do
  differing "$each" "$@" | comm -12 "$SCRATCH/outside" - > "$SCRATCH/both"
  mv "$SCRATCH/both" "$SCRATCH/outside"
done < "$SCRATCH/merged"
head -n ${OUTSIDE_MAX} "$SCRATCH/outside" | tr '\\n\\001' '\\000\\n'
`;

/**
 * Brings the work of the agent that is elsewhere to `HEAD` and into the working tree, and prints its kind and name. Does
 * nothing if that could lose other work: if something changed here since `$3` or is not committed, if the work does not
 * continue `HEAD`, if it is in several places of which none has all of it, or if files are in the way.
 */
export const FAST_FORWARD = `${OPENING}${ELSEWHERE}${OWN_INDEX}
has_large_files=1
list_candidates
has_large_files=
[ -s "$SCRATCH/candidates" ] || exit 0
${TREE}
head=$(g rev-parse --verify --quiet 'HEAD^{commit}') || exit 0
[ "$tree" = "$(g rev-parse --verify --quiet "$3^{tree}")" ] && [ "$tree" = "$(g rev-parse "$head^{tree}")" ] || exit 0
list_elsewhere
every=$(cut -d ' ' -f 3 "$SCRATCH/elsewhere")
[ -n "$every" ] || exit 0
while read -r kind commit all name; do
  rest=$(g rev-list --max-count=1 $every --not "$all") && [ -z "$rest" ] && break
  kind=
done < "$SCRATCH/elsewhere"
[ -n "$kind" ] && g merge-base --is-ancestor "$head" "$commit" || exit 0
in_way=$(g diff-tree -r -z --no-renames --name-only --diff-filter=A "$head" "$all" |
  xargs -0 sh -c 'for path do [ ! -e "$path" ] && [ ! -L "$path" ] || echo 1; done' sh)
[ -z "$in_way" ] || exit 0
unset GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
export GIT_ALTERNATE_OBJECT_DIRECTORIES="$OBJECTS"
rm -f "$index.lock"
g update-index -q --refresh >/dev/null 2>&1
g read-tree -m -u --no-recurse-submodules "$head" "$all" >/dev/null 2>&1 || exit 0
g update-ref HEAD "$commit" && g reset --quiet >/dev/null 2>&1
[ "$kind" != stash ] || g stash drop --quiet "$name" 2>/dev/null
printf '%s %s\\000' "$kind" "$name"
exit 0
`;

/** How much of the subject of a commit is printed. */
const SUBJECT_BYTES = 300;

/**
 * Signs off, with `$6`, each commit that the host does not have and that is no merge, for its author. A changed commit and
 * those after it are made again with the same files, authors and dates, and without signatures, which would be wrong.
 */
const SIGN_OFF = `
: > "$SCRATCH/moved"
signed=
[ -z "$6" ] ||
  g rev-list --reverse --topo-order "$head" --not "$2" $upstream --remotes > "$SCRATCH/unsigned" || exit 93
[ -n "$6" ] || : > "$SCRATCH/unsigned"
while read -r each; do
  g cat-file commit "$each" > "$SCRATCH/commit" || exit 93
  sed -n '/^$/q;p' "$SCRATCH/commit" | sed -f "$SCRATCH/moved" > "$SCRATCH/header"
  sed '1,/^$/d' "$SCRATCH/commit" > "$SCRATCH/message"
  author=$(sed -n 's/^author \\(.*>\\) .*$/\\1/p' "$SCRATCH/header")
  if [ "$(grep -c '^parent ' "$SCRATCH/header")" -lt 2 ]; then
    g interpret-trailers --no-divider --if-exists addIfDifferent --if-missing add \\
      --trailer "Signed-off-by: $author" < "$SCRATCH/message" > "$SCRATCH/signed" || exit 93
    mv "$SCRATCH/signed" "$SCRATCH/message"
  fi
  { cat "$SCRATCH/header"; echo; cat "$SCRATCH/message"; } > "$SCRATCH/new"
  cmp -s "$SCRATCH/commit" "$SCRATCH/new" && continue
  sed -i '/^gpgsig/,/^[^ ]/{/^gpgsig/d;/^ /d;}' "$SCRATCH/header"
  new=$({ cat "$SCRATCH/header"; echo; cat "$SCRATCH/message"; } | g hash-object -t commit -w --stdin) || exit 93
  printf 's/^parent %s$/parent %s/\\n' "$each" "$new" >> "$SCRATCH/moved"
  [ "$each" != "$head" ] || signed=$new
done < "$SCRATCH/unsigned"
if [ -n "$signed" ]; then
  g update-ref -m 'Sign off' HEAD "$signed" "$head" || exit 93
  head=$signed
fi
`;

/**
 * Commits what is not committed, and sets `$head`. Uploads large files (Git LFS) that the host at `$3` lacks. Ends if the host has all commits, or if there is neither a commit nor
 * a file.
 */
export const COMMIT = `
rm -f "$index.lock"
stage
from=$(g rev-parse --verify --quiet 'HEAD^{commit}') || from=$(g hash-object -t tree /dev/null)
if ! g diff-index --cached --quiet --no-ext-diff "$from" -- 2>/dev/null; then
  printf '%s\\n' "$MESSAGE" | g commit --quiet --no-verify --no-gpg-sign --cleanup=verbatim -F - >/dev/null || exit 93
fi
head=$(g rev-parse --verify --quiet 'HEAD^{commit}') || exit 0
upstream=$(g rev-parse --verify --quiet 'refs/remotes/origin/HEAD^{commit}')
new=$(g rev-list --max-count=1 "$head" --not "$2" $upstream) || exit 93
[ -n "$new" ] || exit 0
if g config --local --get filter.lfs.clean >/dev/null 2>&1 && g lfs version >/dev/null 2>&1; then
  printf 'HEAD %s refs/heads/%s %s\\n' "$head" "$4" "$(printf '%s' "$head" | tr 0-9a-f 0)" |
    g lfs pre-push origin "$3" >&2 || exit 94
fi
`;

/** What to call git with for a push. */
export const PUSH_TO_HOST = `g -c http.followRedirects=false push --quiet --no-verify --no-follow-tags --no-signed \\
  --recurse-submodules=no`;

/** Prints what was pushed. */
export const PRINT_PUSHED = `
printf '%s\\n' "$head"
own=$(printf '%s\\n' "$MESSAGE" | head -n 1)
g log --reverse --no-show-signature --no-color --format=%s "$head" --not "$2" $upstream |
  { grep -vxF -e "$own" || printf '%s\\n' "$own"; } | head -n 1 | head -c ${SUBJECT_BYTES}
`;

/**
 * Commits and pushes `$2..HEAD` to `$4` of `$3`, by force when `$5` is `+`. Prints the commit and the subject of the first
 * commit since `$2` that another program made, otherwise that of `MESSAGE`. Prints nothing if there is nothing to push.
 */
export const PUSH = `${OPENING}${COMMIT}${SIGN_OFF}
${PUSH_TO_HOST} -- "$3" "$5$head:refs/heads/$4" >&2 || {
  g rev-list --objects "$head" --not "$2" $upstream | g cat-file --batch-check='%(objectsize) %(objecttype) %(rest)' |
    sed -n 's/^\\([0-9]\\{8,\\}\\) blob /\\1 /p' | sort -rn | head -n 5
  exit 94
}
${PRINT_PUSHED}`;

/**
 * Puts the clone at the commit `$5` of the branch `$4` of `$3`. What the agent has made so far, uncommitted files included,
 * stays under `refs/errand/before`.
 */
export const RESTART = `${OPENING}
rm -f "$index.lock"
stage
if ! g diff-index --cached --quiet --no-ext-diff HEAD -- 2>/dev/null; then
  printf 'work\\n' | g commit --quiet --no-verify --no-gpg-sign -F - >/dev/null || exit 93
fi
head=$(g rev-parse --verify --quiet 'HEAD^{commit}') || exit 93
g -c http.followRedirects=false fetch --quiet --no-tags --no-write-fetch-head --no-recurse-submodules --update-shallow \\
  -- "$3" "+refs/heads/$4:refs/remotes/origin/$4" || exit 95
g cat-file -e "$5^{commit}" || exit 95
g rebase --quit >/dev/null 2>&1
g update-ref refs/errand/before "$head" && g update-ref refs/errand/base "$5" &&
  g symbolic-ref HEAD "refs/heads/$4" && g update-ref "refs/heads/$4" "$5" &&
  g reset --quiet --hard --no-recurse-submodules "$5" >/dev/null || exit 93
g branch --quiet --set-upstream-to="origin/$4" >/dev/null 2>&1
exit 0
`;

/**
 * Packs the work that the commit `$2` of the host does not have. Prints one line: the id of a commit with the current
 * files, the lengths of two lists, and the checked-out branch or "-". After it come the list of the paths that are not
 * packed, the list of the refs for `git update-ref`, and a bundle. A repository of its own makes the bundle, so that no
 * ref is added to that of the agent.
 */
export const SAVE_WORK = `${OPENING}
has_large_files=1
${TREE}
head=$(g symbolic-ref --quiet HEAD)
commit=$(g rev-parse --verify --quiet 'HEAD^{commit}')
work=$(printf 'work\\n' | g commit-tree "$tree" \${commit:+-p "$commit"}) || exit 93
{
  g -c core.excludesFile=/dev/null ls-files --others --ignored --exclude-standard --directory -z
  g -c core.excludesFile=/dev/null ls-files --others --exclude-standard --directory -z
  sed 's,$,/.git,' "$SCRATCH/handled" | tr '\\n\\001' '\\000\\n'
} | head -c ${LIST_BYTES} > "$SCRATCH/omitted"
g for-each-ref --format='update %(refname) %(objectname)' refs/heads refs/tags refs/stash > "$SCRATCH/refs" || exit 93
format=$(g rev-parse --show-object-format) || exit 93
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
own="$SCRATCH/own.git"
git init --quiet --bare --template= --object-format="$format" "$own" || exit 93
{ cat "$SCRATCH/refs"; printf 'update refs/errand/work %s\\n' "$work"; } |
  git --git-dir="$own" update-ref --stdin || exit 93
printf '%s %d %d %s\\n' "$work" "$(wc -c < "$SCRATCH/omitted")" "$(wc -c < "$SCRATCH/refs")" "\${head:--}"
cat "$SCRATCH/omitted" "$SCRATCH/refs"
git --git-dir="$own" bundle create --quiet - --all --not "$2" 2>/dev/null || exit 93
`;

/**
 * Brings the work of the bundle `$2.bundle` and the refs `$2.refs` into a fresh clone: its commits, its branches, and the
 * files of the commit `$3`, which are uncommitted as they were. `$4` is the checked-out branch, or empty. Files that are
 * as in `$5`, the commit of the clone, stay as clone and setup commands made them. Changed and deleted files count as checked
 * out, also outside of a sparse checkout.
 */
export const RESTORE_WORK = `${OPENING}
g bundle unbundle "$2.bundle" >/dev/null || exit 93
g for-each-ref --format='delete %(refname)' refs/heads | g update-ref --no-deref --stdin || exit 93
g update-ref --no-deref --stdin < "$2.refs" || exit 93
if [ -n "$4" ]; then
  g symbolic-ref HEAD "$4" || exit 93
else
  g update-ref --no-deref HEAD "$3^" || exit 93
fi
g diff-tree -r -z --no-renames --name-only --diff-filter=D "$5" "$3" | xargs -0 rm -f --
g read-tree --reset "$3" || exit 93
g diff-tree -r -z --no-renames --name-only --diff-filter=d "$5" "$3" > "$SCRATCH/changed" || exit 93
g update-index --no-skip-worktree -z --stdin < "$SCRATCH/changed" || exit 93
g checkout-index -f -z --stdin < "$SCRATCH/changed" || exit 93
g reset --quiet
g diff-tree -r -z --no-renames --name-only --diff-filter=D HEAD "$3" 2>/dev/null |
  g update-index --no-skip-worktree -z --stdin
exit 0
`;
