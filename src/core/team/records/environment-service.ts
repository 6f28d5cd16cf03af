import type { Clock } from "../../basics/clock.ts";
import { AppError } from "../../basics/errors.ts";
import { isOpenTo, ownerOf } from "../../model/people/ownership.ts";
import type { Viewer } from "../../model/people/principal.ts";
import {
  type Environment,
  type EnvironmentConfig,
  newEnvironmentUid,
} from "../../model/workspaces/environment.ts";
import { requireImage } from "../../model/workspaces/image-name.ts";
import type { RecordStore } from "../../ports/stores/record-store.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { requireWithinLimits } from "./record-limits.ts";

export const ENVIRONMENT_SORTS = ["last_updated", "name"] as const;

export type EnvironmentSort = (typeof ENVIRONMENT_SORTS)[number];

export interface EnvironmentServiceDeps {
  readonly storage: Pick<Storage, "environments" | "teams">;
  readonly clock: Clock;
  /** The registries from which workers pull images. */
  readonly imageRegistries: readonly string[];
}

/** The principal who uses an environment: the members of a viewer that are known when a run starts. */
type User = Pick<Viewer, "id" | "teamId"> & Partial<Viewer>;

/** Manages the environments of a team. Writes run inside a transaction. */
export class EnvironmentService {
  readonly #storage: EnvironmentServiceDeps["storage"];
  readonly #clock: Clock;
  readonly #imageRegistries: readonly string[];

  constructor({ storage, clock, imageRegistries }: EnvironmentServiceDeps) {
    this.#storage = storage;
    this.#clock = clock;
    this.#imageRegistries = imageRegistries;
  }

  async list(viewer: User, sort: EnvironmentSort): Promise<readonly Environment[]> {
    const all = await this.#storage.environments.list(viewer.teamId);
    return all.filter((environment) => isOpenTo(environment, viewer)).sort(ORDERS[sort]);
  }

  async get(viewer: User, id: string): Promise<Environment> {
    return requireEnvironment(this.#storage.environments, viewer, id);
  }

  async create(creator: Viewer, config: EnvironmentConfig, isTeamOwned: boolean): Promise<Environment> {
    this.#requireImage(config);
    const createdAt = this.#clock.now();
    const environment = {
      id: newEnvironmentUid(),
      teamId: creator.teamId,
      ownerId: ownerOf(creator, isTeamOwned),
      config,
      setupFailed: false,
      creatorId: creator.id,
      lastEditorId: creator.id,
      createdAt,
      updatedAt: createdAt,
    };
    await requireWithinLimits(this.#storage, "environments", environment);
    await this.#storage.environments.add(environment);
    return environment;
  }

  async replace(editor: Viewer, id: string, config: EnvironmentConfig): Promise<Environment> {
    const before = await this.get(editor, id);
    // An image of an earlier configuration may still be on the workers, which check before they pull.
    if (config.image !== before.config.image) {
      this.#requireImage(config);
    }
    const updatedAt = this.#clock.now();
    const environment = { ...before, config, setupFailed: false, lastEditorId: editor.id, updatedAt };
    await requireWithinLimits(this.#storage, "environments", environment);
    if (!(await this.#storage.environments.replace(environment))) {
      throw unknownEnvironment();
    }
    return environment;
  }

  async remove(viewer: Viewer, id: string): Promise<void> {
    const { teamId } = await this.get(viewer, id);
    if (!(await this.#storage.environments.remove(teamId, id))) {
      throw unknownEnvironment();
    }
  }

  #requireImage({ image }: EnvironmentConfig): void {
    if (image !== undefined) {
      requireImage(image, this.#imageRegistries, "config.docker_image");
    }
  }
}

/**
 * Returns the environment if this principal may use it. Another principal's environment looks as if it did not exist.
 */
export async function requireEnvironment(
  environments: Pick<RecordStore<Environment>, "find">,
  user: User,
  id: string,
): Promise<Environment> {
  const environment = await environments.find(user.teamId, id);
  if (environment === undefined || !isOpenTo(environment, user)) {
    throw unknownEnvironment();
  }
  return environment;
}

const ORDERS: Readonly<Record<EnvironmentSort, (a: Environment, b: Environment) => number>> = {
  last_updated: (a, b) => b.updatedAt.getTime() - a.updatedAt.getTime() || byText(a.id, b.id),
  name: (a, b) => byText(a.config.name, b.config.name) || byText(a.id, b.id),
};

function byText(left: string, right: string): number {
  if (left === right) {
    return 0;
  }
  return left < right ? -1 : 1;
}

function unknownEnvironment(): AppError {
  return new AppError("resource_not_found", "There is no such environment.", {
    remedy: "List the environments and use the uid of one of them.",
  });
}
