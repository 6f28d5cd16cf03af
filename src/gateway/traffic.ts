import { isSameRepository, type RepositoryName } from "../core/model/repositories/repository-name.ts";
import type {
  GatewayTraffic,
  ModelFailure,
  ModelUsage,
  PushedBranch,
  RefusedPush,
} from "../core/ports/gateway.ts";

type Watcher = (traffic: GatewayTraffic) => void;

const NOTHING: GatewayTraffic = {
  models: { calls: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: 0 },
  pushes: [],
  refusedPushes: [],
};

/** What passed through a gateway, as its handlers record it. */
export class Traffic {
  #current = NOTHING;
  readonly #watchers = new Set<Watcher>();

  get current(): GatewayTraffic {
    return this.#current;
  }

  watch(changed: Watcher): () => void {
    // A separate function, because a caller may watch twice with the same one.
    const watcher: Watcher = (traffic) => changed(traffic);
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** A model began to respond without an error. */
  noteCall(): void {
    const { modelFailure: _, ...rest } = this.#current;
    this.#become({ ...rest, models: added(rest.models, { calls: 1 }) });
  }

  noteUsage(usage: Partial<ModelUsage>): void {
    this.#become({ ...this.#current, models: added(this.#current.models, usage) });
  }

  noteModelFailure(modelFailure: ModelFailure): void {
    this.#become({ ...this.#current, modelFailure });
  }

  notePush(push: PushedBranch): void {
    const others = this.#current.pushes.filter((known) => !isSameBranch(known, push));
    const refusedPushes = this.#refusedElsewhere(push);
    this.#become({ ...this.#current, pushes: [...others, push], refusedPushes });
  }

  noteRefusedPush(push: RefusedPush): void {
    this.#become({ ...this.#current, refusedPushes: [...this.#refusedElsewhere(push), push] });
  }

  #refusedElsewhere(repository: RepositoryName): readonly RefusedPush[] {
    return this.#current.refusedPushes.filter((known) => !isSameRepository(known, repository));
  }

  #become(traffic: GatewayTraffic): void {
    this.#current = traffic;
    for (const watcher of this.#watchers) {
      watcher(traffic);
    }
  }
}

function added(sum: ModelUsage, more: Partial<ModelUsage>): ModelUsage {
  return {
    calls: sum.calls + (more.calls ?? 0),
    inputTokens: sum.inputTokens + (more.inputTokens ?? 0),
    outputTokens: sum.outputTokens + (more.outputTokens ?? 0),
    totalTokens: sum.totalTokens + (more.totalTokens ?? 0),
    costUsd: sum.costUsd + (more.costUsd ?? 0),
  };
}

function isSameBranch(one: PushedBranch, other: PushedBranch): boolean {
  return one.owner === other.owner && one.name === other.name && one.branch === other.branch;
}
