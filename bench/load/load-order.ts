/** What the load process is told to do, and what it tells of it. */
export interface LoadOrder {
  readonly url: string;
  /** Sent in turn, over and over. */
  readonly requests: readonly RequestShape[];
  /** Each has one request under way. */
  readonly connections: number;
  /** Undefined: as many as come back. */
  readonly perSecond?: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

export interface RequestShape {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** `{n}` in a value becomes a text that no other request carries. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** `measuring` comes at the end of the warm-up, so that processor time can be read at the same moments. */
export type LoadMessage =
  | { readonly kind: "measuring" }
  | { readonly kind: "done"; readonly result: LoadResult };

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** How often each status other than 2xx was answered, warm-up included. */
  readonly refused: Readonly<Record<string, number>>;
}
