export const REFUSED_PARTS = ["push", "pull_request", "file"] as const;

/** A part of the work that was not handed over. A run with one succeeds, and says what is missing. */
export interface RefusedWork {
  readonly what: (typeof REFUSED_PARTS)[number];
  /** The name of the host that refused it, or `Errand`. */
  readonly by: string;
  /** The reason, in the words of the one who refused. Untrusted. */
  readonly message: string;
  /** What a person can do about it. */
  readonly remedy?: string;
}

export interface ChangeCounts {
  readonly files: number;
  /** Lines. */
  readonly additions: number;
  readonly deletions: number;
}

/** What is stored of the outcome of a run. The rest follows from other members of the run. */
export interface StoredOutcome {
  readonly changes?: ChangeCounts;
  /** Of the last turn. */
  readonly refused?: readonly RefusedWork[];
}
