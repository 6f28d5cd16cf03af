import type { Clock } from "../basics/clock.ts";
import type { RunId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import type { RequestOrigin } from "../model/policies/request-origin.ts";
import type { IdentityStore } from "../ports/stores/people-stores.ts";
import type { ThreadStore } from "../ports/stores/thread-store.ts";
import type { ThreadAdapter } from "../ports/thread-adapter.ts";

export interface StandingDeps {
  readonly adapters: ReadonlyMap<string, Pick<ThreadAdapter, "name" | "standingOf" | "traits">>;
  readonly storage: {
    readonly identities: Pick<IdentityStore, "list">;
    readonly threads: Pick<ThreadStore, "listOf">;
  };
  readonly clock: Pick<Clock, "now">;
}

interface Kept {
  readonly origins: Promise<readonly RequestOrigin[]>;
  readonly untilMs: number;
}

/** A page reads a run again and again, and a permission that was taken away must end soon. */
const KEPT_MS = 30_000;
const KEPT_MAX = 1_000;

/**
 * What people are in the threads of a run, who signed in to the pages with an account of the same platform. They may decide
 * on the page of the run what they may decide in its threads.
 */
export class StandingOnPlatforms {
  readonly #deps: StandingDeps;
  readonly #kept = new Map<string, Kept>();

  constructor(deps: StandingDeps) {
    this.#deps = deps;
  }

  /** As if the viewer wrote in each thread of the run. The platform is asked now, or was within half a minute. */
  async find(
    runId: RunId,
    viewer: Viewer,
    signInMethod: string | undefined,
  ): Promise<readonly RequestOrigin[]> {
    const adapter = this.#deps.adapters.get(signInMethod ?? "");
    if (adapter?.standingOf === undefined) {
      return [];
    }
    const nowMs = this.#deps.clock.now().getTime();
    const key = `${runId} ${viewer.id}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined && nowMs < kept.untilMs) {
      return kept.origins;
    }
    if (this.#kept.size >= KEPT_MAX) {
      this.#kept.clear();
    }
    const origins = this.#ask(runId, viewer, adapter);
    this.#kept.set(key, { origins, untilMs: nowMs + KEPT_MS });
    origins.catch(() => this.#kept.delete(key));
    return origins;
  }

  async #ask(
    runId: RunId,
    viewer: Viewer,
    adapter: Pick<ThreadAdapter, "name" | "standingOf" | "traits">,
  ): Promise<readonly RequestOrigin[]> {
    const { identities, threads } = this.#deps.storage;
    const bound = (await threads.listOf(runId)).filter(
      (thread) => thread.runId === runId && thread.adapter === adapter.name,
    );
    const links = bound.length === 0 ? [] : await identities.list(viewer.teamId);
    const subjects = links.filter(
      ({ principalId, subject }) => principalId === viewer.id && subject.startsWith(`${adapter.name}:`),
    );
    const origins: RequestOrigin[] = [];
    for (const thread of bound) {
      for (const { subject } of subjects) {
        const standing = await adapter.standingOf?.(thread, subject);
        if (standing !== undefined) {
          const { installation } = thread;
          const { source } = adapter.traits;
          origins.push({ source, integration: adapter.name, installation, ...standing });
        }
      }
    }
    return origins;
  }
}
