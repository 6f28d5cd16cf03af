import type { Clock } from "../../basics/clock.ts";
import type { Digest } from "../../basics/crypto.ts";
import type { PrincipalId, TeamId } from "../../basics/ids.ts";
import { type DefaultsScope, defaultsIdOf, scopeText } from "../../model/defaults/request-defaults.ts";
import { auditContextOf } from "../../model/people/audit.ts";
import type { Principal } from "../../model/people/principal.ts";
import type { RunConfig } from "../../model/runs/run.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { ConfigDefault } from "../prepare/new-run.ts";

export interface RequestDefaultsDeps {
  readonly storage: Pick<Storage, "atomically" | "requestDefaults">;
  readonly digest: Digest;
  readonly clock: Clock;
}

export class RequestDefaultsService {
  readonly #deps: RequestDefaultsDeps;

  constructor(deps: RequestDefaultsDeps) {
    this.#deps = deps;
  }

  /** Those of the place precede those of the person, because a place is often about one repository. */
  async listFor(
    teamId: TeamId,
    { person, place }: { readonly person: PrincipalId; readonly place?: DefaultsScope | undefined },
  ): Promise<readonly ConfigDefault[]> {
    const ofPlace = place === undefined ? {} : await this.get(teamId, place);
    return [
      { layer: "place_default", config: ofPlace },
      { layer: "person_default", config: await this.get(teamId, { principalId: person }) },
    ];
  }

  async get(teamId: TeamId, scope: DefaultsScope): Promise<RunConfig> {
    const found = await this.#deps.storage.requestDefaults.find(teamId, this.#idOf(teamId, scope));
    return found?.config ?? {};
  }

  /** Replaces the defaults of the scope. */
  async set(editor: Principal, scope: DefaultsScope, config: RunConfig): Promise<void> {
    const { clock, storage } = this.#deps;
    const { id: editorId, teamId } = editor;
    const at = clock.now();
    const stamps = { createdAt: at, updatedAt: at };
    const record = {
      id: this.#idOf(teamId, scope),
      teamId,
      scope: scopeText(scope),
      config,
      editorId,
      ...stamps,
    };
    await storage.atomically(async ({ requestDefaults }) => {
      if (!(await requestDefaults.replace(record))) {
        await requestDefaults.add(record);
      }
    }, auditContextOf(editor));
  }

  #idOf(teamId: TeamId, scope: DefaultsScope): string {
    return defaultsIdOf(this.#deps.digest, teamId, scope);
  }
}
