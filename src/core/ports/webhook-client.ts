/** Posts messages to addresses of callers, according to the Standard Webhooks specification. */
export interface WebhookClient {
  /** What is wrong with an address as text, as a clause after its name; undefined: nothing. */
  problemOf(url: string): string | undefined;
  /**
   * Posts once and returns the result; redirects are not followed. Rejects only when `stop` was aborted before there
   * was an answer.
   */
  post(message: SignedMessage, stop: AbortSignal): Promise<WebhookAnswer>;
}

export interface SignedMessage {
  /** The same in every try, so that the receiver can recognise a repetition. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** The message is signed with each secret, so that the receiver can rotate secrets. */
  readonly secrets: readonly string[];
}

/** Either the status of the receiver's answer, or the reason why there was none. */
export type WebhookAnswer = {
  readonly durationMs: number;
} & (
  | { readonly status: number; readonly retryAfterMs?: number; readonly error?: undefined }
  | { readonly status?: undefined; readonly error: string }
);
