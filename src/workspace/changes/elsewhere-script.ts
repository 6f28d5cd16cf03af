/** How many worktrees, and how many branches and stashes, are looked at. */
const ELSEWHERE_MAX = 50;

/**
 * Functions for the scripts about work that is neither in `HEAD` nor in the working tree of the repository.
 *
 * - `list_candidates` writes the list `candidates`: commits of other worktrees, other branches and stashes that `HEAD` does
 *   not contain. Older commits are not the agent's: it may have fetched them.
 * - `list_elsewhere` writes those of them to the list `elsewhere` whose content is not in the index, which `stage` has
 *   filled.
 *
 * Each line has a kind, a commit, a second commit and a name. The second commit adds the uncommitted files of the worktree,
 * or the files of the stash, to the first.
 */
export const ELSEWHERE = `
export GIT_AUTHOR_NAME=errand GIT_AUTHOR_EMAIL=errand GIT_COMMITTER_NAME=errand GIT_COMMITTER_EMAIL=errand
list_candidates() {
  : > "$SCRATCH/candidates"
  since=$(cat "$SCRATCH/given-at" 2>/dev/null)
  [ -n "$since" ] || return 0
  { list_worktrees; list_branches; list_stashes; } | while read -r kind commit all name; do
    [ -z "$(g rev-list --max-count=1 "$all" --not "$base" HEAD --remotes 2>/dev/null)" ] ||
      printf '%s %s %s %s\\n' "$kind" "$commit" "$all" "$name"
  done > "$SCRATCH/candidates"
}
list_elsewhere() {
  while read -r kind commit all name; do
    is_in_index "$all" < /dev/null || printf '%s %s %s %s\\n' "$kind" "$commit" "$all" "$name"
  done < "$SCRATCH/candidates" > "$SCRATCH/elsewhere"
}
list_worktrees() {
  g worktree list --porcelain 2>/dev/null | awk '
    /^worktree / { path = substr($0, 10) } /^HEAD / { commit = $2 } /^detached$/ { kind = "detached" }
    /^$/ { if (seen++) print (kind == "" ? "-" : kind), commit, path; kind = "" }' | head -n ${ELSEWHERE_MAX} |
    while read -r kind commit path; do
      all=$(with_files "$path" "$commit" < /dev/null) || all=$commit
      [ "$kind" != detached ] && [ "$all" = "$commit" ] || printf 'worktree %s %s %s\\n' "$commit" "$all" "$path"
    done
}
with_files() {
  cd -P -- "$1" 2>/dev/null && [ -e .git ] || return 1
  export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD" GIT_INDEX_FILE="$SCRATCH/other-index"
  cp -p -- "$(g rev-parse --git-dir)/index" "$GIT_INDEX_FILE" || return 1
  add_files
  tree=$(g write-tree) || return 1
  commit_with "$2" "$tree"
}
commit_with() {
  if [ "$2" = "$(g rev-parse --verify --quiet "$1^{tree}")" ]; then
    printf '%s\\n' "$1"
  else
    printf 'work\\n' | g commit-tree "$2" -p "$1"
  fi
}
list_branches() {
  g for-each-ref --sort=-committerdate --count=${ELSEWHERE_MAX} \\
    --format='%(committerdate:unix) %(objectname) %(refname:lstrip=2)' refs/heads |
    while read -r when commit name; do
      [ "$when" -lt "$since" ] || printf 'branch %s %s %s\\n' "$commit" "$commit" "$name"
    done
}
list_stashes() {
  number=0
  g log --walk-reflogs --max-count=${ELSEWHERE_MAX} --no-show-signature --format='%ct %H' refs/stash 2>/dev/null |
    while read -r when stash; do
      name="stash@{$number}"
      number=$((number + 1))
      [ "$when" -ge "$since" ] && commit=$(g rev-parse --verify --quiet "$stash^1") || continue
      all=$(with_stash "$stash" "$commit" < /dev/null) || continue
      printf 'stash %s %s %s\\n' "$commit" "$all" "$name"
    done
}
with_stash() {
  export GIT_INDEX_FILE="$SCRATCH/other-index"
  g read-tree "$1" || return 1
  ! g rev-parse --verify --quiet "$1^3" > /dev/null || g ls-tree -r "$1^3" | g update-index --index-info || return 1
  tree=$(g write-tree) || return 1
  commit_with "$2" "$tree"
}
is_in_index() {
  from=$(g merge-base "$1" HEAD) || return 1
  g diff-tree -r -p --binary --full-index --no-ext-diff --no-textconv "$from" "$1" > "$SCRATCH/other" 2>/dev/null
  [ ! -s "$SCRATCH/other" ] || g apply --cached --check -R "$SCRATCH/other" 2>/dev/null
}
`;
