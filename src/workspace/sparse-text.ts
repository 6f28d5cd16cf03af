import type { SparseCheckout } from "../git/sparse-checkout.ts";

/** What a clone in the log says. */
export function sparseText({ folders, missing }: SparseCheckout): string {
  if (folders.length === 0) {
    return `, completely, because it has no folder ${missing.join(", ")}`;
  }
  const absent = missing.length === 0 ? "" : `. It has no folder ${missing.join(", ")}`;
  return `, only ${folders.join(", ")} and the files above${absent}`;
}

/** Several repositories share one list of folders, so a folder is missing only if no repository has it. */
export function withoutFolders(checkouts: readonly SparseCheckout[]): readonly string[] {
  const found = new Set(checkouts.flatMap(({ folders }) => folders));
  const missing = new Set(checkouts.flatMap((checkout) => checkout.missing));
  const nowhere = [...missing].filter((folder) => !found.has(folder));
  return nowhere.length === 0
    ? []
    : [`No repository has the folder ${nowhere.join(", ")}, which its environment names in \`sparse\`.`];
}
