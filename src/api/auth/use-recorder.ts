const IDS_MAX = 10_000;

export interface UseRecorderDeps {
  /** How much time passes at least between two records of the same id. */
  readonly everyMs: number;
  readonly record: (id: string, at: Date) => Promise<void>;
  readonly onError: (error: unknown, id: string) => void;
}

/** Records the last use of keys and sign-ins, not more often than needed. */
export class UseRecorder {
  readonly #deps: UseRecorderDeps;
  readonly #recordedMs = new Map<string, number>();

  constructor(deps: UseRecorderDeps) {
    this.#deps = deps;
  }

  /** Not awaited, because recording the use must not delay the request. */
  used(id: string, lastUse: Date | undefined, now: Date): void {
    const lastMs = this.#recordedMs.get(id) ?? lastUse?.getTime() ?? 0;
    if (now.getTime() - lastMs < this.#deps.everyMs) {
      return;
    }
    if (this.#recordedMs.size >= IDS_MAX) {
      this.#recordedMs.clear();
    }
    this.#recordedMs.set(id, now.getTime());
    this.#deps.record(id, now).catch((error: unknown) => this.#deps.onError(error, id));
  }
}
