import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { SecretBox } from "../../core/basics/crypto.ts";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { RunId } from "../../core/basics/ids.ts";
import { type AuditContext, auditContextOf } from "../../core/model/people/audit.ts";
import {
  answerOwner,
  type IdempotentResponse,
  RUN_DELETED,
} from "../../core/ports/stores/idempotency-store.ts";
import { type Storage, UniqueConflict } from "../../core/ports/stores/storage.ts";
import type { FollowUpResult, TransactionExtras } from "../../core/runs/transaction-extras.ts";
import type { KeyHasher } from "../auth/api-keys.ts";
import { callerOf, holderOf, viewerOf } from "../auth/authentication.ts";
import { requireMatch } from "../http/entity-tags.ts";
import { StatusError } from "../http/errors.ts";
import { sourceOf } from "../http/request-source.ts";

interface Operation {
  /** Each operation has its own key space per caller, independent of the path. */
  readonly operation: string;
  /** The id of the object, if it is not in the body. */
  readonly target?: string;
  /** The body contains a secret, so the stored hash must not allow guessing it. */
  readonly hidesBody?: boolean;
  /** The status of the response. Default: 200. */
  readonly status?: number;
  /**
   * The response contains a secret. It is stored encrypted and repeated only for the same API key or sign-in, because
   * another one of the principal may have fewer rights than the secret gives. A repeat with another one is refused.
   */
  readonly isSecret?: boolean;
  /** A part of the request that is written as if it were a request of its own, with a key of its own. */
  readonly part?: { readonly body: unknown; readonly key: string | undefined };
}

/** A write to a run. The change of the run stores the response. */
export type RunWrite<Body> = RunOperation & (RunTransaction<Body> | PreparedWrite<Body>);

export interface RunOperation extends Operation {
  /**
   * True if the work has no effect outside its transaction. Then no lookup is needed before the work: a repeat meets
   * the stored response in the transaction. That saves a query for each first request.
   */
  readonly isAtomic?: boolean;
}

/** A write whose response needs something that is read before the transaction. */
export interface PreparedWrite<Body> {
  /** May be called again when the request is repeated. */
  prepare(): Promise<RunTransaction<Body>>;
}

type WriteExtras = Pick<TransactionExtras, "apiKeyId" | "author" | "from" | "responseFor" | "signInId">;

/** The work on a run and its answer. */
export interface RunTransaction<Body> {
  /** Does the work and stores `extras` in the same transaction. */
  perform(extras: WriteExtras): Promise<FollowUpResult>;
  /** With a key it is called inside the transaction, which stores the answer. */
  answer(result: FollowUpResult): Body;
}

/** Any other write. */
export interface Write<Body> extends Operation {
  /** The run that the response is about. The stored response is deleted with it. */
  readonly runId?: RunId;
  /** Reads the resource as the answer of a GET has it, to compare it with `If-Match`. */
  readonly current?: (storage: Storage) => Promise<unknown>;
  /** The resource, if it is not named by `operation` and `target`. Writes to one resource wait for each other. */
  readonly lock?: string;
  /** Does the work through `storage`, in one transaction. May be called again. */
  perform(storage: Storage): Promise<Body>;
}

/** A response with a secret, and the API key or sign-in that may see it again. */
interface SecretAnswer {
  readonly secretOf: string;
  readonly body: unknown;
}

type IdempotencyKey = Pick<IdempotentResponse, "principalId" | "key" | "requestHash">;

interface KeyedRequest {
  readonly key: IdempotencyKey;
  /** Who may see the response again, if it contains a secret. */
  readonly secretOf: string | undefined;
}

export interface IdempotencyDeps {
  readonly storage: Storage;
  readonly secrets: SecretBox;
  readonly hashKey: KeyHasher;
}

/**
 * Writes with an `Idempotency-Key`. The response is stored in the transaction of the write, so that both exist or
 * neither. Of two concurrent requests, the second violates the unique index and gets the first one's response. A
 * refused request stores nothing and may be sent again with its key.
 */
export class Idempotency {
  readonly #deps: IdempotencyDeps;

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps;
  }

  /**
   * For a request whose parts are written one by one. Returns its key, from which those of the parts are made. The stored
   * body lets only the same request use the key again.
   */
  async claim(request: FastifyRequest, reply: FastifyReply, operation: string): Promise<string | undefined> {
    const key = readKey(request.raw.rawHeaders);
    if (key !== undefined) {
      await this.writeOnce(request, reply, { operation, hidesBody: true, perform: async () => ({}) });
    }
    return key;
  }

  /** For a write to a run. The change of the run stores the response. A part of a request has no reply of its own. */
  async writeRunOnce<Body>(
    request: FastifyRequest,
    reply: FastifyReply | undefined,
    write: RunWrite<Body>,
  ): Promise<Body> {
    const { status = 200 } = write;
    reply?.code(status);
    const keyed = this.#keyed(request, write);
    if (keyed === undefined) {
      const { answer, perform } = await prepared(write);
      return answer(await perform(callerExtras(request)));
    }
    const storedForm = (body: Body) => this.#stored(body, keyed);
    const perform = async () =>
      performAndStore({ ...keyed.key, status }, await prepared(write), {
        ...callerExtras(request),
        storedForm,
      });
    return this.#performOrReplay(reply, keyed, perform, write.isAtomic);
  }

  /** For any other write. The work and its response are stored in one transaction, which is opened here. */
  async writeOnce<Body>(request: FastifyRequest, reply: FastifyReply, write: Write<Body>): Promise<Body> {
    const { status = 200 } = write;
    const { storage } = this.#deps;
    reply.code(status);
    const keyed = this.#keyed(request, write);
    const author = authorOf(request);
    if (keyed === undefined) {
      return storage.atomically((stores) => performWithKey(request, stores, write), author);
    }
    return this.#performOrReplay(reply, keyed, () =>
      storage.atomically(async (stores) => {
        const body = await performWithKey(request, stores, write);
        await stores.idempotentResponses.remember({
          ...keyed.key,
          ...defined({ runId: write.runId }),
          status,
          body: this.#stored(body, keyed),
        });
        return body;
      }, author),
    );
  }

  async #performOrReplay<Body>(
    reply: FastifyReply | undefined,
    keyed: KeyedRequest,
    perform: () => Promise<Body>,
    isAtomic = false,
  ): Promise<Body> {
    const { key, principalId } = keyed.key;
    const find = () => this.#deps.storage.idempotentResponses.find(principalId, key);
    const first = isAtomic ? undefined : await find();
    if (first !== undefined) {
      return this.#replay(reply, first, keyed);
    }
    try {
      return await perform();
    } catch (error) {
      // A concurrent duplicate may fail at the stored response, or earlier at a unique name.
      const duplicate = await find();
      if (duplicate !== undefined) {
        return this.#replay(reply, duplicate, keyed);
      }
      if (!(error instanceof UniqueConflict) || error.what !== "idempotencyKey") {
        throw error;
      }
    }
    const message = "The same request is still in progress.";
    throw new AppError("conflict", message, { retryable: true, retryAfterMs: 200 });
  }

  /** Returns undefined if the request has no key. */
  #keyed(
    request: FastifyRequest,
    { operation, target = "", hidesBody, isSecret, part }: Operation,
  ): KeyedRequest | undefined {
    const { body, key: text } = part ?? { body: request.body, key: readKey(request.raw.rawHeaders) };
    if (text === undefined) {
      return undefined;
    }
    const digest = createHash("sha256")
      .update(`${target}\n${canonical(body)}`)
      .digest("hex");
    const requestHash = hidesBody === true ? this.#deps.hashKey(digest) : digest;
    const key = { principalId: viewerOf(request).id, key: `${operation} ${text}`, requestHash };
    return { key, secretOf: isSecret === true ? secretOwnerOf(request) : undefined };
  }

  #replay<Body>(reply: FastifyReply | undefined, first: IdempotentResponse, keyed: KeyedRequest): Body {
    requireSame(first, keyed.key);
    if (first.status === RUN_DELETED) {
      throw runDeleted();
    }
    reply?.code(first.status).header("idempotent-replay", "true");
    const body = keyed.secretOf === undefined ? first.body : this.#opened(first, keyed);
    // The response was stored by the same operation, so it has the right type.
    return body as Body;
  }

  #stored(body: unknown, { key, secretOf }: KeyedRequest): unknown {
    if (secretOf === undefined) {
      return body;
    }
    const answer: SecretAnswer = { secretOf, body };
    return this.#deps.secrets.seal(JSON.stringify(answer), answerOwner(key));
  }

  #opened({ body }: IdempotentResponse, { key, secretOf }: KeyedRequest): unknown {
    const answer = this.#secretAnswer(body, key);
    if (answer.secretOf !== secretOf) {
      throw new AppError("not_authorized", "Another API key of yours has sent this Idempotency-Key.", {
        remedy: "Use the same API key, because the response contains a secret, or use a new Idempotency-Key.",
      });
    }
    return answer.body;
  }

  #secretAnswer(body: unknown, key: IdempotencyKey): SecretAnswer {
    try {
      return JSON.parse(this.#deps.secrets.open(String(body), answerOwner(key)));
    } catch (cause) {
      throw new AppError("conflict", "The response to this Idempotency-Key can no longer be read.", {
        cause,
        retryable: false,
        remedy: "The server's secret key was changed. The request was performed: look for what it made.",
      });
    }
  }
}

/** What must still be valid when the write is stored, and who makes it. Guests have no key and no sign-in. */
function callerExtras(request: FastifyRequest): Omit<WriteExtras, "responseFor"> {
  const { key, signIn } = callerOf(request).holder ?? {};
  const credential = defined({
    apiKeyId: key ? key.id : undefined,
    signInId: signIn ? signIn.id : undefined,
  });
  return { author: authorOf(request), from: { source: sourceOf(request) }, ...credential };
}

/** How audit entries name the caller. */
export function authorOf(request: FastifyRequest): AuditContext {
  const { holder, viewer } = callerOf(request);
  const author = auditContextOf(viewer);
  const key = holder?.key && { keyId: holder.key.id };
  return { ...author, actor: { ...author.actor, ...key, address: request.ip }, requestId: request.id };
}

function secretOwnerOf(request: FastifyRequest): string {
  const { key, signIn } = holderOf(request);
  return signIn?.id ?? key?.id ?? "";
}

/** Does the work only if the caller's key was not revoked and its sign-in has not ended meanwhile, in any process. */
async function performWithKey<Body>(
  request: FastifyRequest,
  stores: Storage,
  write: Write<Body>,
): Promise<Body> {
  const { current, operation, target } = write;
  if (target !== undefined) {
    await stores.lock(write.lock ?? `${operation.split(".")[0]} ${target}`);
  }
  const { apiKeyId, signInId } = callerExtras(request);
  if (apiKeyId !== undefined) {
    await stores.keys.requireAlive(apiKeyId);
  }
  if (signInId !== undefined) {
    await stores.signIns.requireOpen(signInId);
  }
  if (current !== undefined) {
    await requireMatch(request, () => current(stores));
  }
  return write.perform(stores);
}

async function prepared<Body>(write: RunWrite<Body>): Promise<RunTransaction<Body>> {
  return "prepare" in write ? write.prepare() : write;
}

/** Returns the response that the transaction stored last, because a transaction may be tried more than once. */
async function performAndStore<Body>(
  requestKey: Omit<IdempotentResponse, "body">,
  { answer, perform }: RunTransaction<Body>,
  { storedForm, ...caller }: Omit<WriteExtras, "responseFor"> & { storedForm(body: Body): unknown },
): Promise<Body> {
  const stored: Body[] = [];
  await perform({
    ...caller,
    responseFor: (result) => {
      const body = answer(result);
      stored.push(body);
      return { ...requestKey, body: storedForm(body) };
    },
  });
  if (stored.length === 0) {
    throw new Error("A write under an idempotency key stored no response.");
  }
  return stored.at(-1) as Body;
}

function requireSame(first: IdempotentResponse, requestKey: IdempotencyKey): void {
  if (first.requestHash === requestKey.requestHash) {
    return;
  }
  throw new StatusError(422, "invalid_request", "This Idempotency-Key was used with another request.", {
    remedy: "Use a new key for each different request.",
  });
}

function runDeleted(): AppError {
  return new AppError("conflict", "The run of this Idempotency-Key was deleted.", {
    retryable: false,
    remedy: "Use a new key to start another run.",
  });
}

/** Returns the same text for equal values, whatever the order of their members. */
function canonical(value: unknown): string {
  const text = JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) {
      return member;
    }
    return Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
  return text ?? "";
}

const HEADER = "idempotency-key";
const MAX_LENGTH = 255;

/** Reads the raw headers, because Node joins a header that was sent twice into one value. */
function readKey(rawHeaders: readonly string[]): string | undefined {
  const values = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === HEADER,
  );
  const [value] = values;
  if (value === undefined) {
    return undefined;
  }
  const key = unquoted(value.trim());
  if (values.length > 1 || !/^[\x20-\x7e]+$/.test(key) || key.length > MAX_LENGTH) {
    throw invalidKey();
  }
  return key;
}

/** The draft of the standard defines the key as a quoted string. Most clients send it without quotes. */
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
