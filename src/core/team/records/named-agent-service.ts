import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { PrincipalId } from "../../basics/ids.ts";
import type { NamedAgent } from "../../model/defaults/named-agent.ts";
import type { Principal, Viewer } from "../../model/people/principal.ts";
import type { RunConfig } from "../../model/runs/run.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { PrincipalService } from "../people/principal-service.ts";
import { requireEnvironment } from "./environment-service.ts";

export interface NamedAgentDeps {
  readonly storage: Pick<Storage, "environments" | "keys" | "namedAgents" | "people" | "signIns" | "teams">;
  readonly clock: Clock;
  /** Throws if no run could start with this configuration. */
  readonly requireUsable: (config: RunConfig) => void;
}

/** The values to set. A member that is left out keeps its value, and null removes it. */
export interface NamedAgentEdit {
  readonly name?: string;
  readonly description?: string | null;
  readonly config: RunConfig;
  readonly secretNames?: readonly string[];
  readonly onBehalfOfEnabled?: boolean;
  readonly others: Readonly<Record<string, unknown>>;
}

/** A named agent with its principal. */
export interface KnownAgent {
  readonly agent: NamedAgent;
  readonly principal: Principal;
}

/** Administrators manage the named agents of their team through this service. Writes run inside a transaction. */
export class NamedAgentService {
  readonly #deps: NamedAgentDeps;

  constructor(deps: NamedAgentDeps) {
    this.#deps = deps;
  }

  async list({ teamId }: Viewer): Promise<readonly KnownAgent[]> {
    const { namedAgents, people } = this.#deps.storage;
    const agents = await namedAgents.list(teamId);
    const principals = await people.getMany(agents.map(({ id }) => id));
    const byId = new Map(principals.map((principal) => [principal.id, principal]));
    return agents.flatMap((agent) => {
      const principal = byId.get(agent.id);
      return principal === undefined ? [] : [{ agent, principal }];
    });
  }

  async get(viewer: Viewer, id: PrincipalId): Promise<KnownAgent> {
    const agent = await this.#find(viewer, id);
    return { agent, principal: await this.#principals.get(viewer, id) };
  }

  async create(
    viewer: Viewer,
    { name, ...edit }: NamedAgentEdit & { readonly name: string },
  ): Promise<KnownAgent> {
    const principal = await this.#principals.create(viewer, {
      type: "service_account",
      displayName: name,
      administrator: false,
    });
    const { id, teamId, createdAt } = principal;
    const empty = { id, teamId, config: {}, secretNames: [], onBehalfOfEnabled: false, others: {} };
    const agent = edited({ ...empty, createdAt, updatedAt: createdAt }, edit);
    await this.#check(agent);
    await this.#deps.storage.namedAgents.add(agent);
    return { agent, principal };
  }

  /** The principal is locked first, so that of two edits at once none is lost. */
  async replace(viewer: Viewer, id: PrincipalId, { name, ...edit }: NamedAgentEdit): Promise<KnownAgent> {
    await this.#find(viewer, id);
    const changes = name === undefined ? {} : { displayName: name };
    const principal = await this.#principals.change(viewer, id, changes);
    const before = await this.#find(viewer, id);
    const agent = { ...edited(before, edit), updatedAt: this.#deps.clock.now() };
    await this.#check(agent);
    await this.#deps.storage.namedAgents.replace(agent);
    return { agent, principal };
  }

  /** The principal stays, disabled, because runs refer to it. Its keys are revoked for good. */
  async remove(viewer: Viewer, id: PrincipalId): Promise<void> {
    const { clock, storage } = this.#deps;
    await this.#find(viewer, id);
    await this.#principals.change(viewer, id, { disabled: true });
    if (!(await storage.namedAgents.remove(viewer.teamId, id))) {
      throw unknownAgent();
    }
    const revokedAt = clock.now();
    const keys = (await storage.keys.list(viewer.teamId)).filter(({ principalId }) => principalId === id);
    for (const key of keys) {
      await storage.keys.change(viewer.teamId, key.id, (known) => ({ revokedAt, ...known }));
    }
  }

  get #principals(): PrincipalService {
    return new PrincipalService(this.#deps);
  }

  async #find({ teamId }: Viewer, id: PrincipalId): Promise<NamedAgent> {
    const agent = await this.#deps.storage.namedAgents.find(teamId, id);
    if (agent === undefined) {
      throw unknownAgent();
    }
    return agent;
  }

  /** The environment must be open to the agent itself, which starts runs with its own keys. */
  async #check(agent: NamedAgent): Promise<void> {
    const { requireUsable, storage } = this.#deps;
    requireUsable(agent.config);
    const { environment_id } = agent.config;
    if (environment_id !== undefined) {
      await requireEnvironment(storage.environments, agent, environment_id);
    }
  }
}

function edited(before: NamedAgent, edit: Omit<NamedAgentEdit, "name">): NamedAgent {
  const { description: known, ...others } = before;
  const { description = known ?? null } = edit;
  return {
    ...others,
    ...defined({ description: description === null ? undefined : description }),
    config: merged(before.config, edit.config),
    secretNames: edit.secretNames ?? before.secretNames,
    onBehalfOfEnabled: edit.onBehalfOfEnabled ?? before.onBehalfOfEnabled,
    others: merged(before.others, edit.others),
  };
}

function merged(
  before: Readonly<Record<string, unknown>>,
  edit: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries({ ...before, ...edit }).filter(([, value]) => value !== null));
}

function unknownAgent(): AppError {
  return new AppError("resource_not_found", "There is no such agent.");
}
