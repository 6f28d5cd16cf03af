import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../core/errors.ts";
import { type AnswerStore, Taken } from "../core/ports/storage.ts";
import type { RememberedAnswer } from "../core/runs/remembered-answer.ts";
import type { Alongside, FollowUpResult } from "../core/runs/run-service.ts";
import { principalOf } from "./auth.ts";
import { StatusError } from "./errors.ts";

export interface Write<Body> {
  /** Keys are the caller's own for each operation, whatever its path is called. */
  readonly operation: string;
  /** What it is done to, where that is not in the body. */
  readonly target?: string;
  /** Does the work, with `alongside` stored in the same transaction. */
  perform(alongside: Pick<Alongside, "remembers">): Promise<FollowUpResult>;
  answer(result: FollowUpResult): Body;
}

type Request = Omit<RememberedAnswer, "body">;

/**
 * Writes under an `Idempotency-Key`: the answer is stored in the transaction of the write itself, so either both
 * are there or neither is. Of two at once, the second meets the unique index and is given the first's answer.
 * A refused request stores nothing and may be sent again under its key.
 */
export class Idempotency {
  readonly #answers: AnswerStore;

  constructor(answers: AnswerStore) {
    this.#answers = answers;
  }

  async answerOnce<Body>(request: FastifyRequest, reply: FastifyReply, write: Write<Body>): Promise<Body> {
    const key = readKey(request.raw.rawHeaders);
    if (key === undefined) return write.answer(await write.perform({}));
    const asked = askedBy(request, write, key);
    const first = await this.#answers.find(asked.principalId, asked.key);
    if (first !== undefined) return replay<Body>(reply, first, asked);
    try {
      return write.answer(await write.perform({ remembers: remembering(asked, write) }));
    } catch (error) {
      if (!(error instanceof Taken) || error.what !== "answer") throw error;
      return this.#replayTwin<Body>(reply, asked);
    }
  }

  async #replayTwin<Body>(reply: FastifyReply, asked: Request): Promise<Body> {
    const first = await this.#answers.find(asked.principalId, asked.key);
    if (first !== undefined) return replay<Body>(reply, first, asked);
    throw new AppError("conflict", "The same request is still being worked on.", { retryAfterMs: 200 });
  }
}

function remembering<Body>(asked: Request, { answer }: Write<Body>): Alongside["remembers"] {
  return (run, followUpId) => ({ ...asked, body: answer({ run, followUpId }) });
}

function replay<Body>(reply: FastifyReply, first: RememberedAnswer, asked: Request): Body {
  if (first.requestHash !== asked.requestHash) {
    throw new StatusError(422, "invalid_request", "This Idempotency-Key was used with another request.", {
      remedy: "Use a new key for each different request.",
    });
  }
  reply.header("idempotent-replay", "true");
  // Stored by the same operation, so it has the operation's shape.
  return first.body as Body;
}

function askedBy(request: FastifyRequest, { operation, target = "" }: Write<unknown>, key: string): Request {
  const requestHash = createHash("sha256")
    .update(`${target}\n${canonical(request.body)}`)
    .digest("hex");
  return { principalId: principalOf(request).id, key: `${operation} ${key}`, requestHash };
}

/** The same value gives the same text, whatever the order of its members. */
function canonical(value: unknown): string {
  const text = JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
  return text ?? "";
}

const HEADER = "idempotency-key";
const MAX_LENGTH = 255;

/** From the raw headers: Node joins a header that was sent twice, which would pass as one key. */
function readKey(rawHeaders: readonly string[]): string | undefined {
  const values = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === HEADER,
  );
  const [value] = values;
  if (value === undefined) return undefined;
  const key = unquoted(value.trim());
  if (values.length > 1 || !/^[\x20-\x7e]+$/.test(key) || key.length > MAX_LENGTH) throw invalidKey();
  return key;
}

/** The standard draft has the key as a quoted string; most clients send it bare. */
function unquoted(value: string): string {
  const inner = /^"(.*)"$/.exec(value)?.[1];
  return inner === undefined ? value : inner.replace(/\\(["\\])/g, "$1");
}

function invalidKey(): AppError {
  const message = `must be sent once, with 1 to ${MAX_LENGTH} printable ASCII characters`;
  return new AppError("invalid_request", "The Idempotency-Key is not valid.", {
    issues: [{ path: "Idempotency-Key", message }],
  });
}
