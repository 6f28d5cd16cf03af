import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { cutText } from "../core/basics/clean-text.ts";
import { type ClonePart, type ClonePartOptions, runInClone } from "./clone-parts.ts";
import type { Step } from "./steps.ts";

const LEVELS = 3;
const OUTPUT_BYTES = 16_384;
const NAMED_MAX = 10;
const PATH_LENGTH_MAX = 200;

/**
 * Fetches one submodule after another, so that one which cannot be read does not keep the others away. Prints the first
 * errors of each, and at last the paths of those that are missing. A submodule that contains itself is fetched to the last level only.
 */
const FETCH_SUBMODULES = `
export GIT_ALLOW_PROTOCOL=http:https
update() {
  git submodule --quiet update --init "$@" </dev/null >/dev/null 2> "$SCRATCH/errors"
}
fetch() {
  update --depth 1 -- "$1" || update -- "$1" && return
  { printf '%s\\n' "$1:" && head -n 2 "$SCRATCH/errors"; } >&2
}
# It is outside of a sparse checkout.
is_left_out() {
  case $(git ls-files -t -- ":(top,literal)$1" </dev/null) in S*) return 0 ;; esac
  return 1
}
level() {
  git submodule status | while read -r commit path; do
    is_left_out "$path" && continue
    case $commit in -*) fetch "$path" ;; esac
    [ "$1" -gt 1 ] && [ -e "$path/.gitmodules" ] && (cd -P -- "$path" && level $(($1 - 1)))
  done
}
cd -P -- "$1" && git submodule status >/dev/null || exit 1
level ${LEVELS}
git submodule status --recursive | while read -r commit path; do
  is_left_out "$path" && continue
  case $commit in
    -*) printf '%s\\n' "$path" ;;
    # Another commit is there, followed by its name in brackets.
    +*) printf '%s\\n' "\${path% (*}" ;;
  esac
done
`;

export const SUBMODULES: ClonePart = {
  title: (repository) => `Fetch the submodules of ${repository}`,
  fetch: fetchSubmodules,
};

/** Whether a new clone, in which no program has run yet, names submodules. */
export async function hasSubmodules(directory: string): Promise<boolean> {
  const found = await lstat(join(directory, ".gitmodules")).catch(() => undefined);
  return found?.isFile() === true;
}

async function fetchSubmodules(options: ClonePartOptions, step: Step): Promise<string | undefined> {
  const { repository } = options;
  const name = `${repository.owner}/${repository.name}`;
  if (repository.isUntrusted) {
    step.end("failed");
    return `The submodules of ${name} are missing: they are not fetched for the branch of a fork, which names them itself.`;
  }
  const { errorText, exit, output } = await runInClone(options, FETCH_SUBMODULES, OUTPUT_BYTES);
  const lines = output.toString("utf8").split("\n").filter(Boolean);
  const paths = lines.map((line) => cutText(line.replaceAll(/\p{Cc}/gu, "\u{FFFD}"), PATH_LENGTH_MAX));
  if (typeof exit === "object" && exit.code === 0 && paths.length === 0) {
    step.end("completed");
    return undefined;
  }
  step.say(errorText);
  step.end("failed");
  return `${missingText(paths)} of ${name} are missing, as the log says. A run can fetch those that are public, and those that are repositories of the run: add them to its environment.`;
}

function missingText(paths: readonly string[]): string {
  if (paths.length === 0) {
    return "Submodules";
  }
  const further = paths.length > NAMED_MAX ? ` and ${paths.length - NAMED_MAX} more` : "";
  return `The submodules ${paths.slice(0, NAMED_MAX).join(", ")}${further}`;
}
