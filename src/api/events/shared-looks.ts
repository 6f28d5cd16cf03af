import type { RunId } from "../../core/ids.ts";
import type { Viewer } from "../../core/people/principal.ts";
import type { RunEvent } from "../../core/runs/events.ts";
import type { Run } from "../../core/runs/run.ts";
import { requireVisible } from "../../core/runs/visibility.ts";
import type { ApiParts } from "../api-parts.ts";

/**
 * Looks at runs for all that follow them. A thousand viewers of one run are woken by the same news and want to know the
 * same thing: the first one's look is for all of them, as long as it began after the news.
 */
export class SharedLooks {
  readonly #runs: ApiParts["runs"];
  readonly #storage: Pick<ApiParts["storage"], "runs">;
  readonly #underWay = new Map<RunId, Map<string, Promise<unknown>>>();

  constructor({ runs, storage }: Pick<ApiParts, "runs" | "storage">) {
    this.#runs = runs;
    this.#storage = storage;
  }

  /** There is news of the run: what is under way may not know of it yet, so nobody joins it from now on. */
  forget(id: RunId): void {
    this.#underWay.delete(id);
  }

  /** As `RunService.get`. */
  async get(id: RunId, viewer: Viewer): Promise<Run> {
    return requireVisible(await this.#once(id, "run", () => this.#storage.runs.find({ id })), viewer);
  }

  /** As `RunService.readEvents`. */
  readEvents(id: RunId, after: number, limit: number): Promise<readonly RunEvent[]> {
    return this.#once(id, `${limit} after ${after}`, () => this.#runs.readEvents(id, after, limit));
  }

  async #once<T>(id: RunId, what: string, look: () => Promise<T>): Promise<T> {
    const looks = this.#underWay.get(id) ?? new Map<string, Promise<unknown>>();
    const joined = looks.get(what) as Promise<T> | undefined;
    if (joined !== undefined) return joined;
    this.#underWay.set(id, looks);
    const own = look().finally(() => this.#end(id, looks, what));
    looks.set(what, own);
    return own;
  }

  #end(id: RunId, looks: Map<string, Promise<unknown>>, what: string): void {
    looks.delete(what);
    if (looks.size === 0 && this.#underWay.get(id) === looks) this.#underWay.delete(id);
  }
}
