import { defined } from "../basics/defined.ts";
import { AppError } from "../basics/errors.ts";
import type { RunId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import type { Run } from "../model/runs/run.ts";
import type { Storage } from "../ports/stores/storage.ts";
import type { NewRun } from "./prepare/new-run.ts";
import { retryOf } from "./prepare/retry-of.ts";
import type { RunService } from "./run-service.ts";

interface RetryDeps {
  readonly runs: Pick<RunService, "get">;
  readonly storage: Pick<Storage, "files" | "namedAgents" | "runs">;
}

/** A new run that repeats the run `id`, with its files and its place in its conversation. */
export async function retriedRun(
  { runs, storage }: RetryDeps,
  id: RunId,
  { creator, source }: { readonly creator: Viewer; readonly source: NewRun["source"] },
): Promise<NewRun> {
  const run = await runs.get({ id }, creator);
  const inputs = await storage.files.inputsOf(id);
  const agent = await storage.namedAgents.find(run.teamId, run.executorId ?? run.creatorId);
  if (agent === undefined && hasSecretsOfAgent(run)) {
    throw new AppError("resource_not_found", "The agent of this run was deleted.", {
      remedy: "Start a new run. A retry would get secrets that the agent did not have.",
    });
  }
  return {
    ...retryOf(run, {
      creator,
      source,
      inputs,
      ...(await continuedRunOf({ runs, storage }, run, creator)),
    }),
    ...defined({ agentUid: agent?.id }),
  };
}

/** Whether a named agent limits the secrets of the run. Runs of earlier versions have no other lists. */
function hasSecretsOfAgent({ config, provenance, secretNames }: Run): boolean {
  const layer = config.secrets === undefined ? "agent" : provenance.config_layers?.secrets;
  return secretNames !== undefined && layer === "agent";
}

async function continuedRunOf(
  { runs, storage }: RetryDeps,
  { continuesId }: Run,
  viewer: Viewer,
): Promise<Pick<NewRun, "continues">> {
  // If the continued run was deleted, the new run begins a conversation of its own.
  if (continuesId === undefined || (await storage.runs.find({ id: continuesId })) === undefined) {
    return {};
  }
  return { continues: await runs.get({ id: continuesId }, viewer) };
}
