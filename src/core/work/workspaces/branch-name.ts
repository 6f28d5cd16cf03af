import type { Run } from "../../model/runs/run.ts";

const BRANCH_PREFIX = "errand/";
const OWN_BRANCH = /^errand\/|^errand-[\da-f]{12}(?:-|$)/;

const SLUG_LENGTH_MAX = 40;

/**
 * The branch for the work of a run, always the same: the random end of its id, because ids of runs created in the same
 * minute begin alike, and words of its title. A title without Latin letters and digits leaves no words.
 */
export function branchOf({ id, title }: Pick<Run, "id" | "title">, branchNumber = 1): string {
  const slug = slugOf(title);
  const number = branchNumber === 1 ? "" : `-${branchNumber}`;
  return `${BRANCH_PREFIX}${id.slice(id.lastIndexOf("-") + 1)}${slug === "" ? "" : `-${slug}`}${number}`;
}

/** The same on a host with a branch `errand`, beside which no branch `errand/…` can exist. */
export function flatBranchOf(run: Pick<Run, "id" | "title">, branchNumber = 1): string {
  return branchOf(run, branchNumber).replace("/", "-");
}

/** Whether Errand pushes this branch for the run. Its further branches have a number at their end. */
export function isBranchOf(run: Pick<Run, "id" | "title">, branch: string): boolean {
  return [branchOf(run), flatBranchOf(run)].some(
    (own) => branch.startsWith(own) && /^(-[1-9]\d*)?$/.test(branch.slice(own.length)),
  );
}

/** Whether Errand itself pushes branches of this name. */
export function isOwnBranch(branch: string): boolean {
  return OWN_BRANCH.test(branch);
}

/** What the names of the branches begin with that Errand pushes for this run. */
export function ownPrefixesOf(run: Pick<Run, "id">): readonly string[] {
  return [BRANCH_PREFIX, flatBranchOf({ ...run, title: "" })];
}

/** As many whole words as fit. */
function slugOf(title: string): string {
  const words = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .match(/[a-z\d]+/g);
  let slug = "";
  for (const word of words ?? []) {
    const longer = slug === "" ? word : `${slug}-${word}`;
    if (longer.length > SLUG_LENGTH_MAX) {
      break;
    }
    slug = longer;
  }
  return slug;
}
