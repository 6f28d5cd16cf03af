import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/errors.ts";
import type { IdempotentResponse } from "../../core/idempotency/idempotent-response.ts";
import type { FollowUpResult, TransactionExtras } from "../../core/runs/run-service.ts";
import type { SecretBox } from "../../core/secrets/secret-box.ts";
import { type Storage, UniqueConflict } from "../../core/storage.ts";
import type { KeyHasher } from "../auth/api-keys.ts";
import { holderOf } from "../auth/authentication.ts";
import { StatusError } from "./errors.ts";

interface Operation {
  /** Keys are the caller's own for each operation, whatever its path is called. */
  readonly operation: string;
  /** What it is done to, where that is not in the body. */
  readonly target?: string;
  /** The body holds a secret: what is kept to know it again must not let it be guessed. */
  readonly hidesBody?: boolean;
}

/** A write to a run, whose change stores the answer itself. */
export type RunWrite<Body> = RunOperation & (RunTransaction<Body> | PreparedWrite<Body>);

interface RunOperation extends Operation {
  /**
   * The work leaves nothing but what its transaction stores. Then nobody looks first whether it was done before: a
   * repeat meets the remembered answer there. This spares every first request, which is nearly all of them, a look-up.
   */
  readonly isAtomic?: boolean;
}

/** A write whose answer needs something that is read before the transaction. */
interface PreparedWrite<Body> {
  /** May be called again when the request is repeated. */
  prepare(): Promise<RunTransaction<Body>>;
}

interface RunTransaction<Body> {
  /** Does the work, with `extras` stored in the same transaction. */
  perform(extras: Pick<TransactionExtras, "remembers">): Promise<FollowUpResult>;
  /** With a key it is called inside the transaction, which stores the answer. */
  answer(result: FollowUpResult): Body;
}

/** Any other write. */
export interface Write<Body> extends Operation {
  /** Of the answer; default 200. */
  readonly status?: number;
  /**
   * The answer shows a secret this once, so it is not remembered in the clear, and is given again to the very API key
   * that asked first: another of the same principal may be allowed less than the secret is good for.
   */
  readonly isSecret?: boolean;
  /** Does the work through `storage`, in one transaction. May be called again. */
  perform(storage: Storage): Promise<Body>;
}

type Asked = Pick<IdempotentResponse, "principalId" | "key" | "requestHash">;

export interface IdempotencyDeps {
  readonly storage: Storage;
  readonly secrets: SecretBox;
  readonly hashKey: KeyHasher;
}

/**
 * Writes under an `Idempotency-Key`: the answer is stored in the transaction of the write itself, so either both
 * are there or neither is. Of two at once, the second meets the unique index and is given the first's answer.
 * A refused request stores nothing and may be sent again under its key.
 */
export class Idempotency {
  readonly #deps: IdempotencyDeps;

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps;
  }

  /** For a write to a run, whose change stores the answer too. */
  async writeRunOnce<Body>(
    request: FastifyRequest,
    reply: FastifyReply,
    write: RunWrite<Body>,
  ): Promise<Body> {
    const asked = this.#askedBy(request, write);
    if (asked === undefined) {
      const { answer, perform } = await prepared(write);
      return answer(await perform({}));
    }
    const perform = async () => performAndRemember(asked, await prepared(write));
    return write.isAtomic === true
      ? this.#perform(reply, asked, false, perform)
      : this.#lookFirst(reply, asked, false, perform);
  }

  /** For any other: the work and the answer are stored through one transaction, which is opened here. */
  async writeOnce<Body>(request: FastifyRequest, reply: FastifyReply, write: Write<Body>): Promise<Body> {
    const { status = 200, isSecret = false } = write;
    const { storage } = this.#deps;
    reply.code(status);
    const asked = this.#askedBy(request, write, isSecret);
    if (asked === undefined) return storage.atomically((stores) => write.perform(stores));
    return this.#lookFirst(reply, asked, isSecret, () =>
      storage.atomically(async (stores) => {
        const body = await write.perform(stores);
        await stores.answers.remember({
          ...asked,
          status,
          body: isSecret ? this.#sealed(body, asked) : body,
        });
        return body;
      }),
    );
  }

  async #lookFirst<Body>(
    reply: FastifyReply,
    asked: Asked,
    isSecret: boolean,
    perform: () => Promise<Body>,
  ): Promise<Body> {
    const first = await this.#deps.storage.answers.find(asked.principalId, asked.key);
    if (first !== undefined) return this.#replay<Body>(reply, first, asked, isSecret);
    return this.#perform(reply, asked, isSecret, perform);
  }

  async #perform<Body>(
    reply: FastifyReply,
    asked: Asked,
    isSecret: boolean,
    perform: () => Promise<Body>,
  ): Promise<Body> {
    try {
      return await perform();
    } catch (error) {
      // A twin may be met at the answer, or before that at what it has made, such as a name that is now taken.
      const twin = await this.#deps.storage.answers.find(asked.principalId, asked.key);
      if (twin !== undefined) return this.#replay<Body>(reply, twin, asked, isSecret);
      if (!(error instanceof UniqueConflict) || error.what !== "answer") throw error;
    }
    throw new AppError("conflict", "The same request is still being worked on.", { retryAfterMs: 200 });
  }

  /** undefined: the request carries no key. */
  #askedBy(
    request: FastifyRequest,
    { operation, target = "", hidesBody }: Operation,
    isSecret = false,
  ): Asked | undefined {
    const key = readKey(request.raw.rawHeaders);
    if (key === undefined) return undefined;
    const digest = createHash("sha256")
      .update(`${target}\n${canonical(request.body)}`)
      .digest("hex");
    const requestHash = hidesBody === true ? this.#deps.hashKey(digest) : digest;
    const { key: apiKey, principal } = holderOf(request);
    const name = isSecret ? `${operation} ${apiKey.id} ${key}` : `${operation} ${key}`;
    return { principalId: principal.id, key: name, requestHash };
  }

  #replay<Body>(reply: FastifyReply, first: IdempotentResponse, asked: Asked, isSecret: boolean): Body {
    requireSame(first, asked);
    reply.code(first.status).header("idempotent-replay", "true");
    const body = isSecret
      ? JSON.parse(this.#deps.secrets.open(String(first.body), ownerOf(asked)))
      : first.body;
    // Stored by the same operation, so it has the operation's shape.
    return body as Body;
  }

  #sealed(body: unknown, asked: Asked): string {
    return this.#deps.secrets.seal(JSON.stringify(body), ownerOf(asked));
  }
}

function ownerOf({ principalId, key }: Asked): string {
  return `answer:${principalId}:${key}`;
}

async function prepared<Body>(write: RunWrite<Body>): Promise<RunTransaction<Body>> {
  return "prepare" in write ? write.prepare() : write;
}

/** The caller gets the answer that the transaction stored last: a transaction may be tried more than once. */
async function performAndRemember<Body>(
  asked: Asked,
  { answer, perform }: RunTransaction<Body>,
): Promise<Body> {
  const stored: Body[] = [];
  await perform({
    remembers: (run, followUpId) => {
      const body = answer({ run, followUpId });
      stored.push(body);
      return { ...asked, status: 200, body };
    },
  });
  const body = stored.at(-1);
  if (body === undefined) throw new Error("A write under an idempotency key stored no answer.");
  return body;
}

function requireSame(first: IdempotentResponse, asked: Asked): void {
  if (first.requestHash === asked.requestHash) return;
  throw new StatusError(422, "invalid_request", "This Idempotency-Key was used with another request.", {
    remedy: "Use a new key for each different request.",
  });
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
