/** Notices of one thread that were given up for the same reason. */
export interface DeadNotices {
  readonly adapter: string;
  /** The key of the thread, which only its adapter understands. */
  readonly threadKey: string;
  readonly error: string;
  readonly count: number;
}

/** What the checks of an adapter need to know of the server. */
export interface AdapterFacts {
  now(): Date;
  readonly publicUrl: () => string;
  /** When any process stored an event of the adapter, as far as recent events tell. */
  lastEventAt(): Promise<Date | undefined>;
  /** Of the last days. */
  deadNotices(): Promise<readonly DeadNotices[]>;
}
