import type { TeamId } from "../basics/ids.ts";
import { hasImages } from "../model/workers/worker.ts";
import type { Environment } from "../model/workspaces/environment.ts";
import { isListed, parseImageName } from "../model/workspaces/image-name.ts";
import { type Check, ok, warn } from "../ports/check.ts";
import type { WorkerStore } from "../ports/stores/worker-store.ts";

interface StoredImages {
  readonly environments: { list(teamId: TeamId): Promise<readonly Pick<Environment, "config">[]> };
  readonly teams: { list(): Promise<readonly { readonly id: TeamId }[]> };
}

export interface UnlistedImages {
  readonly environments: number;
  readonly registries: readonly string[];
}

const REMEDY =
  "Add registries that your team may use to ERRAND_IMAGE_REGISTRIES on all processes, and change the other environments.";

/** Names environments whose images workers do not pull, because their registries are not in the operator's list. */
export function environmentImagesCheck(
  storage: StoredImages & { readonly workers: Pick<WorkerStore, "listLive"> },
  registries: readonly string[],
): Check {
  return {
    name: "environment_images",
    async run() {
      if (!(await storage.workers.listLive()).some(hasImages)) {
        return ok("No worker has images.");
      }
      const unlisted = await findUnlistedImages(storage, registries);
      if (unlisted.environments === 0) {
        return ok(`Workers pull images from ${registries.join(", ")}.`);
      }
      return warn(
        `${unlisted.environments} environments have images of other registries than ${registries.join(", ")}: ` +
          `${unlisted.registries.join(", ")}. Their runs work only where the image is already present.`,
        REMEDY,
      );
    },
  };
}

export async function findUnlistedImages(
  { environments, teams }: StoredImages,
  registries: readonly string[],
): Promise<UnlistedImages> {
  const ofTeams = (await teams.list()).map(({ id }) => environments.list(id));
  const unlisted = (await Promise.all(ofTeams)).flat().flatMap(({ config: { image } }) => {
    const name = image === undefined ? undefined : parseImageName(image);
    return name === undefined || isListed(name, registries) ? [] : [name.registry];
  });
  return { environments: unlisted.length, registries: [...new Set(unlisted)].toSorted() };
}
