import type { PrincipalId } from "../../core/ids.ts";
import type { Principal } from "../../core/people/principal.ts";
import type { Run } from "../../core/runs/run.ts";
import type { ApiParts } from "../api-parts.ts";
import { type RunItem, runItemOf } from "../schemas/run-item.ts";

/** Runs as the contract shows them. */
export async function runItemsOf(parts: ApiParts, runs: readonly Run[]): Promise<RunItem[]> {
  const show = await itemMaker(parts, runs);
  return runs.map(show);
}

export async function runItem(parts: ApiParts, run: Run): Promise<RunItem> {
  const show = await itemMaker(parts, [run]);
  return show(run);
}

/** Looks up the creators all at once. */
async function itemMaker(
  { runs, clock, storage: { people } }: ApiParts,
  shown: readonly Run[],
): Promise<(run: Run) => RunItem> {
  const ids = new Set<PrincipalId>(shown.map(({ creatorId }) => creatorId));
  const found: readonly Principal[] = ids.size === 0 ? [] : await people.getMany([...ids]);
  const creators = new Map(found.map((principal) => [principal.id, principal]));
  const now = clock.now();
  return (run) =>
    runItemOf(run, { creator: creators.get(run.creatorId), sessionLink: runs.sessionLink(run), now });
}
