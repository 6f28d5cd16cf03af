/** The defaults are those of the environment variables. */
export interface OperatorLimits {
  readonly bodyBytes: number;
  readonly promptBytes: number;
  /** In characters as people count them, not in UTF-16 units. */
  readonly titleLength: number;
  readonly basePromptBytes: number;
  readonly configBytes: number;
  /** Decoded bytes of one attachment or image, and of all of one request together. */
  readonly attachmentBytes: number;
  readonly attachmentsBytes: number;
  /** Requests per window and principal, or per address if there is no key. 0: no limit. */
  readonly rateLimit: number;
  /** Open streams per principal in one process. 0: no limit. */
  readonly streamsPerPrincipal: number;
}

export interface FixedLimits {
  /** The time within which a caller must send its headers, and its whole request. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How often the two timeouts above are checked. */
  readonly timeoutCheckMs: number;
  /** An idle connection is closed after this time. It must be longer than the streams' heartbeat. */
  readonly connectionTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly rateWindowMs: number;
  readonly heartbeatMs: number;
  /** How often a stream checks its caller even without a notification, because notifications can be lost. */
  readonly callerCheckMs: number;
  /** How often a stream reads the log even without a notification, because notifications can be lost. */
  readonly pollMs: number;
  /** How much a stream buffers for a slow reader, and how long it waits until the buffer shrinks. */
  readonly streamBufferBytes: number;
  readonly streamStallMs: number;
  /** How much the responses of one caller take until they are sent, in characters. */
  readonly unreadResponses: number;
  /** How much the bodies of one caller's requests take until they are answered. */
  readonly unansweredBodies: number;
  /** Failed sign-ins per minute and address. */
  readonly failedSignIns: number;
}

export type ApiLimits = OperatorLimits & FixedLimits;

export const FIXED_LIMITS: FixedLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  timeoutCheckMs: 5_000,
  connectionTimeoutMs: 120_000,
  keepAliveMs: 72_000,
  rateWindowMs: 60_000,
  heartbeatMs: 15_000,
  callerCheckMs: 2_000,
  pollMs: 1_000,
  streamBufferBytes: 2 ** 20,
  streamStallMs: 30_000,
  unreadResponses: 64 * 2 ** 20,
  unansweredBodies: 64 * 2 ** 20,
  failedSignIns: 10,
};

/** `limits` takes precedence over the fixed ones. */
export function limitsOf(limits: OperatorLimits & Partial<FixedLimits>): ApiLimits {
  return { ...FIXED_LIMITS, ...limits };
}
