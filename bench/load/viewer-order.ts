/** The message that starts a measurement in the viewers' process. */
export interface ViewerOrder {
  readonly url: string;
  readonly streamPath: string;
  /** The headers of each viewer. */
  readonly viewers: readonly Readonly<Record<string, string>>[];
  /** The path to which messages for all viewers are posted. */
  readonly postPath: string;
  readonly poster: Readonly<Record<string, string>>;
  readonly postsPerSecond: number;
  readonly seconds: number;
}

export type ViewerMessage =
  | { readonly kind: "watching" }
  | { readonly kind: "done"; readonly result: ViewerResult };

export interface ViewerResult {
  readonly posts: number;
  /** The number of messages that arrived at viewers. If none is lost, it is `posts` times the number of viewers. */
  readonly delivered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}
