import type { Run } from "../../core/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { statusForGuest } from "../auth/guest-status.ts";
import { type RunItem, runItemOf } from "../schemas/run-item.ts";

/** Runs in the API's format. */
export async function runItemsOf(deps: ApiDeps, runs: readonly Run[]): Promise<RunItem[]> {
  const show = await itemMaker(deps, runs);
  return runs.map(show);
}

export async function runItem(deps: ApiDeps, run: Run): Promise<RunItem> {
  const show = await itemMaker(deps, [run]);
  return show(run);
}

/** Looks up the creators and what was made all at once. */
async function itemMaker(
  { runs, clock, principals, storage: { files } }: ApiDeps,
  shown: readonly Run[],
): Promise<(run: Run) => RunItem> {
  const creators = await principals.getMany(new Set(shown.map(({ creatorId }) => creatorId)));
  const makers = shown.filter(({ artifactTypes }) => artifactTypes !== undefined).map(({ id }) => id);
  const made = Map.groupBy(await files.artifactsOf(makers), ({ runId }) => runId);
  const now = clock.now();
  return (run) =>
    runItemOf(run, {
      creator: creators.get(run.creatorId),
      sessionLink: runs.sessionLink(run),
      artifacts: made.get(run.id) ?? [],
      now,
    });
}

/** What a share link tells of a run: how it goes, not how it was set up, and of its creator no more than the name. */
export function itemForGuest(item: RunItem): RunItem {
  const {
    agent_config,
    approval,
    creator,
    metadata,
    provenance,
    request_usage,
    schedule,
    status_message,
    ...shown
  } = item;
  const { email, photo_url, ...named } = creator;
  const { harness, model_id, name } = agent_config ?? {};
  const status = statusForGuest(status_message, status_message?.error_code);
  return {
    ...shown,
    creator: named,
    agent_config: withoutUndefined({ harness, model_id, name }),
    ...(status === undefined ? {} : { status_message: status }),
  };
}

function withoutUndefined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined)) as T;
}
