/** When each adapter last looked for lost events, and how far it came. */
export interface EventRecoveryStore {
  /**
   * Begins a search for the lost events of an adapter and returns what the last one stored. Undefined if a search began
   * less than `gapMs` ago, in any process.
   */
  begin(adapter: string, gapMs: number): Promise<{ readonly cursor: string | undefined } | undefined>;
  /** Stores how far the search came. */
  advance(adapter: string, cursor: string): Promise<void>;
  /** Which of these deliveries are stored as inbox events. */
  listStored(adapter: string, deliveryIds: readonly string[]): Promise<ReadonlySet<string>>;
}
