import type {
  Gateway,
  GatewayGrant,
  Gateways,
  GatewayTraffic,
  ModelUsage,
  PushedBranch,
  RefusedPush,
} from "../../../src/core/ports/gateway.ts";
import { NO_TRAFFIC } from "../idle-gateway.ts";

/** Gateways that lead nowhere. A test reports the calls that go through them. */
export class InMemoryGateways implements Gateways {
  readonly grants: GatewayGrant[] = [];
  readonly opened: InMemoryGateway[] = [];
  /** Each error fails one coming opening. */
  readonly faults: Error[] = [];
  /** The closed gateways. Other fakes write to the same journal. */
  readonly #journal: string[];

  constructor(journal: string[] = []) {
    this.#journal = journal;
  }

  get last(): InMemoryGateway {
    const gateway = this.opened.at(-1);
    if (gateway === undefined) {
      throw new Error("No gateway was opened.");
    }
    return gateway;
  }

  async open(grant: GatewayGrant): Promise<Gateway> {
    const fault = this.faults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    const gateway = new InMemoryGateway(this.#journal);
    this.grants.push(grant);
    this.opened.push(gateway);
    return gateway;
  }
}

export class InMemoryGateway implements Gateway {
  readonly address = "http://127.0.0.1:9/token";
  readonly shutReasons: string[] = [];
  isOpen = true;
  #traffic = NO_TRAFFIC;
  readonly #watchers = new Set<(traffic: GatewayTraffic) => void>();
  readonly #journal: string[];

  constructor(journal: string[]) {
    this.#journal = journal;
  }

  get traffic(): GatewayTraffic {
    return this.#traffic;
  }

  watch(changed: (traffic: GatewayTraffic) => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  shut(reason: string): void {
    this.shutReasons.push(reason);
  }

  async close(): Promise<void> {
    if (this.isOpen) {
      this.#journal.push("gateway closed");
    }
    this.isOpen = false;
  }

  /** Reports that a model was called. */
  call(usage: Partial<ModelUsage>): void {
    const { models } = this.#traffic;
    const sum = (name: keyof ModelUsage) => models[name] + (usage[name] ?? 0);
    this.#change({
      models: {
        calls: models.calls + 1,
        inputTokens: sum("inputTokens"),
        outputTokens: sum("outputTokens"),
        totalTokens: sum("totalTokens"),
        costUsd: sum("costUsd"),
      },
    });
  }

  push(branch: PushedBranch): void {
    this.#change({ pushes: [...this.#traffic.pushes, branch] });
  }

  /** Reports that the host refused a push. */
  refuse(push: RefusedPush): void {
    this.#change({ refusedPushes: [push] });
  }

  fail(modelFailure: NonNullable<GatewayTraffic["modelFailure"]>): void {
    this.#change({ modelFailure });
  }

  #change(traffic: Partial<GatewayTraffic>): void {
    this.#traffic = { ...this.#traffic, ...traffic };
    for (const changed of this.#watchers) {
      changed(this.#traffic);
    }
  }
}
