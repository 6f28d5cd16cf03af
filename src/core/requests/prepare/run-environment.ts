import type { Environment } from "../../model/workspaces/environment.ts";
import type { RecordStore } from "../../ports/stores/record-store.ts";
import { requireEnvironment } from "../../team/records/environment-service.ts";
import type { NewRun } from "./new-run.ts";

/** The environment that a new run names, if any. */
export async function requireRunEnvironment(
  environments: Pick<RecordStore<Environment>, "find">,
  { creator, config }: Pick<NewRun, "creator" | "config">,
): Promise<Environment | undefined> {
  if (config?.environment_id === undefined) {
    return undefined;
  }
  return requireEnvironment(environments, creator, config.environment_id);
}
