/** The message that starts a measurement in the load process. */
export interface LoadOrder {
  readonly url: string;
  /** Sent in turn, repeatedly. */
  readonly requests: readonly RequestShape[];
  /** Each connection has one request at a time. */
  readonly connections: number;
  /** Undefined: each connection sends its next request as soon as it has its answer. */
  readonly perSecond?: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Only answers with this status count. Default: those with 2xx. */
  readonly status?: number;
}

export interface RequestShape {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** `{n}` in a value and in the body becomes a text that no other request has. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signing?: Signing;
}

/** The platform in whose way the body is signed. */
export interface Signing {
  readonly platform: "slack" | "github";
  readonly secret: string;
}

/** `measuring` is sent at the end of the warm-up, so that processor time is read for the same period. */
export type LoadMessage =
  | { readonly kind: "measuring" }
  | { readonly kind: "done"; readonly result: LoadResult };

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The number of answers by each other status, including the warm-up. */
  readonly refused: Readonly<Record<string, number>>;
}
