/** What the viewers' process is told to do, and what it tells of it. */
export interface ViewerOrder {
  readonly url: string;
  readonly streamPath: string;
  /** For each viewer its own. */
  readonly viewers: readonly Readonly<Record<string, string>>[];
  /** Where a message is posted that all viewers are to see. */
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
  /** How many messages came to viewers; `posts` times the number of viewers is all. */
  readonly delivered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}
