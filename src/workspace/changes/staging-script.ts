/** Larger files belong neither into a patch nor into a pull request. In blocks of `find`, which has no larger unit everywhere. */
const LARGE_BLOCKS = 20_480;
/** How many repositories inside each other are looked at. */
const NESTING_MAX = 20;
/** How many of the files are looked at that the agent's tools wrote. */
const WRITTEN_MAX = 200;
/** How many files are named that are left out. */
const LEFT_OUT_MAX = 200;

/**
 * Functions for the scripts. `stage` fills the index with what the agent changed; the rest of it stays as in the commit
 * `$base` that was cloned.
 *
 * - A file counts as unchanged if it has the content and the mode that the agent got, and if the index of the agent does
 *   not say otherwise. Line endings, filters and setup commands make files differ from their commit without the agent.
 * - The files of a repository inside this one are plain files, because nobody could fetch a link to its commit. A
 *   submodule stays a link if its host has the commit.
 * - Outside of a sparse checkout, absent files count as unchanged and present ones as the agent's. Git itself would leave out
 *   new files there. Only the index knows what is absent, so without one the script ends.
 * - New files are left out if they are large or cannot be read. With `$names_left_out`, the list `left` names them: reason,
 *   space and path, each entry with NUL at its end.
 *   It also names files that git ignores and that are in the list `written`: a tool of the agent named them as written.
 *
 * Lists have one path a line. Where a path is read from git with `-z`, a line end in it becomes the byte 1.
 */
export const STAGING = `
touch "$SCRATCH/given" "$SCRATCH/given-repositories" "$SCRATCH/own-repositories" "$SCRATCH/left" "$SCRATCH/written"
large_files() {
  [ -n "$has_large_files" ] && return
  find . -name .git -prune -o -type f -size +${LARGE_BLOCKS} -print 2>/dev/null |
    sed -e 's/[][\\\\*?!# ]/\\\\&/g' -e 's/^\\.//'
}
add_files() {
  large_files > "$SCRATCH/large"
  take_up_present
  g -c core.sparseCheckout=false -c core.excludesFile="$SCRATCH/large" add -A --ignore-errors . >/dev/null 2>&1
}
take_up_present() {
  g -c core.sparseCheckout=false ls-files -t -z | as_lines | sed -n 's/^S //p' | tr '\\n\\001' '\\000\\n' |
    xargs -0 sh -c 'for path do [ ! -e "$path" ] && [ ! -L "$path" ] || printf "%s\\0" "$path"; done' sh |
    g -c core.sparseCheckout=false update-index --no-skip-worktree -z --stdin
}
stage() {
  [ -e "\${GIT_INDEX_FILE:-$index}" ] || [ "$(g config --bool core.sparseCheckout)" != true ] || exit 93
  : > "$SCRATCH/handled"
  : > "$SCRATCH/notes"
  g diff-index --cached --name-only --no-renames "$base" > "$SCRATCH/staged-by-agent" 2>/dev/null
  add_files
  store_repositories
  [ -z "$names_left_out" ] || list_left_out
  reset_unchanged
}
in_repository() {
  (
    cd -P -- "$1" 2>/dev/null || exit 1
    shift
    unset GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
    export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"
    g "$@"
  )
}
as_lines() { tr '\\n\\000' '\\001\\n'; }
find_repositories() {
  {
    g ls-files --stage -z | as_lines | sed -n 's/^160000 [0-9a-f]* 0.//p'
    g ls-files --others --exclude-standard -z 2>/dev/null | as_lines | sed -n 's,/$,,p'
  } | sort -u | grep -vxF -f "$SCRATCH/handled"
}
store_repositories() {
  round=0
  while [ "$round" -lt ${NESTING_MAX} ] && find_repositories > "$SCRATCH/repositories"; do
    while IFS= read -r path; do
      printf '%s\\n' "$path" >> "$SCRATCH/handled"
      store_repository "$path" < /dev/null
    done < "$SCRATCH/repositories"
    round=$((round + 1))
  done
}
store_repository() {
  if is_submodule "$1"; then
    store_submodule "$1"
    return
  fi
  g update-index --force-remove -- "$1" 2>/dev/null
  is_worktree "$1" && return
  known=$(sed -n 's/^\\([0-9a-f]*\\) //p' "$SCRATCH/given-repositories" | grep -xF -e "$1")
  if [ -n "$known$keep_repositories" ]; then
    state="$(state_of "$1") $1"
    printf '%s\\n' "$state" >> "$SCRATCH/own-repositories"
    [ -n "$keep_repositories" ] || grep -qxF -e "$state" "$SCRATCH/given-repositories" || is_pushed "$1" ||
      printf 'repository %s\\n' "$1" >> "$SCRATCH/notes"
    return
  fi
  nested=$(
    cd -P -- "$1" 2>/dev/null || exit 1
    export GIT_WORK_TREE="$PWD" GIT_INDEX_FILE="$SCRATCH/nested-index"
    rm -f "$GIT_INDEX_FILE"
    add_files
    g write-tree 2>/dev/null
  )
  [ -n "$nested" ] && g read-tree --prefix="$1/" "$nested" 2>/dev/null
}
is_pushed() {
  [ -z "$(in_repository "$1" status --porcelain 2>&1 | head -c 1)" ] &&
    [ -z "$(in_repository "$1" rev-list --max-count=1 HEAD --not --remotes 2>&1)" ]
}
is_submodule() {
  case $(g ls-tree "$base" -- ":(top,literal)$1") in 160000*) return 0 ;; esac
  g config -f .gitmodules --get-regexp '^submodule\\..*\\.path$' 2>/dev/null | sed 's/^[^ ]* //' | grep -qxF -e "$1"
}
store_submodule() {
  [ -e "$1/.git" ] || return
  was=$(g ls-tree "$base" -- ":(top,literal)$1" | sed -n 's/^160000 commit \\([0-9a-f]*\\).*/\\1/p')
  now=$(in_repository "$1" rev-parse --verify --quiet HEAD)
  [ -z "$(in_repository "$1" status --porcelain 2>/dev/null | head -c 1)" ] || printf 'submodule %s\\n' "$1" >> "$SCRATCH/notes"
  [ "$was" != "$now" ] || return
  [ -z "$(in_repository "$1" rev-list --max-count=1 HEAD --not --remotes 2>&1)" ] && return
  printf 'submodule %s\\n' "$1" >> "$SCRATCH/notes"
  if [ -n "$was" ]; then
    g update-index --add --cacheinfo "160000,$was,$1" 2>/dev/null
  else
    g update-index --force-remove -- "$1" 2>/dev/null
  fi
}
is_worktree() {
  [ -f "$1/.git" ] && [ "$(in_repository "$1" rev-parse --path-format=absolute --git-common-dir 2>/dev/null)" = \\
    "$(g rev-parse --path-format=absolute --git-common-dir)" ]
}
state_of() {
  { in_repository "$1" rev-parse --verify --quiet HEAD; in_repository "$1" status --porcelain; } 2>/dev/null |
    g hash-object --stdin
}
identify() {
  g ls-files --stage > "$SCRATCH/entries-all"
  awk -F '\\t' 'FILENAME == ARGV[1] { want[$1]; next }
    $2 in want { split($1, part, " "); print part[1] " " part[2] "\\t" $2 }' \\
    "$SCRATCH/paths" "$SCRATCH/entries-all" > "$SCRATCH/entries"
  sed -n 's/^100[0-7]* [0-9a-f]*.//p' "$SCRATCH/entries" > "$SCRATCH/regular"
  g hash-object --no-filters --stdin-paths < "$SCRATCH/regular" > "$SCRATCH/ids" 2>/dev/null || : > "$SCRATCH/ids"
  sed -n 's/^\\(100[0-7]*\\) .*/\\1/p' "$SCRATCH/entries" | paste -d ' ' - "$SCRATCH/ids" | paste - "$SCRATCH/regular"
  grep -v '^100' "$SCRATCH/entries"
  awk -F '\\t' 'FILENAME == ARGV[1] { there[$2]; next } !($1 in there) { print "0 0\\t" $1 }' \\
    "$SCRATCH/entries" "$SCRATCH/paths"
}
reset_unchanged() {
  [ -s "$SCRATCH/given" ] || return 0
  cut -f 2- "$SCRATCH/given" > "$SCRATCH/paths"
  identify > "$SCRATCH/now"
  awk -F '\\t' 'FILENAME == ARGV[1] { given[$0]; next } FILENAME == ARGV[2] { own[$0]; next }
    ($0 in given) && !($2 in own) { print $2 }' \\
    "$SCRATCH/given" "$SCRATCH/staged-by-agent" "$SCRATCH/now" > "$SCRATCH/unchanged"
  {
    sed "s/^/0 $(printf '%s' "$base" | tr 0-9a-f 0)	/" "$SCRATCH/unchanged"
    g ls-tree -r "$base" | awk -F '\\t' 'FILENAME == ARGV[1] { same[$0]; next } $2 in same' "$SCRATCH/unchanged" -
  } | g update-index --index-info
}
list_left_out() {
  {
    tr '\\n' '\\000' < "$SCRATCH/notes"
    g -c core.excludesFile=/dev/null ls-files --others --exclude-standard -z 2> "$SCRATCH/unopened" | as_lines |
      head -n ${LEFT_OUT_MAX} | while IFS= read -r path; do
        case $path in */) grep -qxF -e "\${path%/}" "$SCRATCH/handled" && continue ;; esac
        printf '%s %s\\000' "$(reason_of "$path")" "$path"
      done
    list_ignored
    sed -n "s/^warning: could not open directory '//p" "$SCRATCH/unopened" |
      sed -e "s,/': .*,/," -e tlong -e :long -e 's/^\\(.\\{200\\}\\).\\{800,\\}/deep \\1…/' -e t -e 's/^/unreadable /' | tr '\\n' '\\000'
  } | tr '\\001' '\\n' | head -c 65536 > "$SCRATCH/left"
}
list_ignored() {
  since=$(cat "$SCRATCH/given-at" 2>/dev/null)
  head -n ${WRITTEN_MAX} "$SCRATCH/written" | while IFS= read -r path; do
    path=\${path#"$PWD/"}
    [ -f "$path" ] && [ "$(stat -c %Y -- "$path")" -ge "\${since:-0}" ] || continue
    g -c core.excludesFile=/dev/null check-ignore --quiet -- "./$path" < /dev/null 2>/dev/null &&
      printf 'ignored %s\\000' "$path"
  done
}
reason_of() {
  if [ -d "$1" ]; then
    echo repository
  elif [ -r "$1" ] && [ -n "$(find "./$1" -prune -size +${LARGE_BLOCKS} 2>/dev/null)" ]; then
    echo large
  else
    echo unreadable
  fi
}
`;
