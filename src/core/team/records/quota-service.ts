import type { Clock } from "../../basics/clock.ts";
import { AppError, invalidMember } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import { isOperator, type Viewer } from "../../model/people/principal.ts";
import { problemOfQuota, type Quota, type QuotaUse } from "../../model/usage/quota.ts";
import type { Storage } from "../../ports/stores/storage.ts";

export interface QuotaDeps {
  readonly storage: Pick<Storage, "quotas">;
  readonly clock: Clock;
}

/** Everybody sees the quotas of the own team. Only operators set them, because they protect the server from its teams. */
export class QuotaService {
  readonly #deps: QuotaDeps;

  constructor(deps: QuotaDeps) {
    this.#deps = deps;
  }

  /** `apiKeyId`: the key of the caller, whose runs count for the quotas of a key. */
  list({ teamId }: Pick<Viewer, "teamId">, apiKeyId?: string): Promise<readonly QuotaUse[]> {
    const { clock, storage } = this.#deps;
    return storage.quotas.list(teamId, { at: clock.now(), apiKeyId });
  }

  async replace(
    viewer: Viewer,
    teamId: TeamId,
    quotas: readonly Quota[],
    apiKeyId?: string,
  ): Promise<readonly QuotaUse[]> {
    if (!isOperator(viewer)) {
      throw new AppError("not_authorized", "Only an operator may set the quotas of a team.", {
        remedy: "Ask an administrator of the installation's first team.",
      });
    }
    requirePossible(quotas);
    if (!(await this.#deps.storage.quotas.replace(teamId, quotas))) {
      throw new AppError("resource_not_found", "There is no such team.");
    }
    return this.list({ teamId }, apiKeyId);
  }
}

function requirePossible(quotas: readonly Quota[]): void {
  const names = quotas.map(({ name, scope }) => `${name} ${scope}`);
  for (const [index, quota] of quotas.entries()) {
    const problem =
      names.indexOf(`${quota.name} ${quota.scope}`) < index
        ? "is there twice for the same scope"
        : problemOfQuota(quota);
    if (problem !== undefined) {
      throw invalidMember(`quotas.${index}`, problem);
    }
  }
}
