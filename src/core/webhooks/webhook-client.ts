/** Posts to addresses that callers have named, after the Standard Webhooks specification. */
export interface WebhookClient {
  /** What speaks against an address as it is written, as a clause after its name; undefined: nothing yet. */
  problemOf(url: string): string | undefined;
  /**
   * Posts once and says what came of it; redirects are not followed. Rejects only when `stop` fired before there was
   * an answer, which then nobody knows.
   */
  post(message: SignedMessage, stop: AbortSignal): Promise<WebhookAnswer>;
}

export interface SignedMessage {
  /** The same in every try: the receiver knows a repetition by it. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** Signed with each of them, so that the receiver may go over from one to the other. */
  readonly secrets: readonly string[];
}

/** Either the receiver answered, with whatever status, or there is a reason why not. */
export type WebhookAnswer = {
  readonly durationMs: number;
} & (
  | { readonly status: number; readonly retryAfterMs?: number; readonly error?: undefined }
  | { readonly status?: undefined; readonly error: string }
);
