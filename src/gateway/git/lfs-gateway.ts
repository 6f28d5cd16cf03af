import { randomBytes } from "node:crypto";
import { Transform, type TransformCallback } from "node:stream";
import { defined } from "../../core/basics/defined.ts";
import type { RepositoryName } from "../../core/model/repositories/repository-name.ts";
import type { RepositoryGrant } from "../../core/ports/gateway.ts";
import { bodyOf, type Call, hasBody } from "../call.ts";
import { forwardResponse } from "../forward-response.ts";
import { only, without } from "../headers.ts";
import { Refusal, sendWhole } from "../refusal.ts";
import type { UpstreamResponse } from "../upstream.ts";
import {
  type ActionOfHost,
  type BatchRequest,
  type BatchResponse,
  batchRequest,
  batchResponse,
  isSuccess,
  LFS_JSON,
  type LfsAction,
  readMessage,
  shortText,
} from "./lfs-messages.ts";
import { drop, type GitGateway, grantedIn, keyFor, requireGrant } from "./repository-access.ts";

interface LfsCall extends Call {
  readonly repository: RepositoryName;
  readonly granted: RepositoryGrant | undefined;
  /** The path after `info/lfs/`. */
  readonly rest: string;
}

/** Where an object really is. The sandbox knows only the id of the transfer. */
interface Transfer extends ActionOfHost {
  readonly action: LfsAction;
  readonly size: number;
}

const PATH = /^\/(?<owner>[\w.-]+)\/(?<name>[\w.-]+?)(?:\.git)?\/info\/lfs\/(?<rest>[\w/-]+)$/;
const TRANSFERS = "transfers/";
const TRANSFERS_MAX = 20_000;
const MESSAGE_BYTES = 2 ** 20;
const METHODS = { download: "GET", upload: "PUT", verify: "POST" } as const;
const TRANSFER_HEADERS = ["accept", "content-length", "content-type", "range"];
const TRANSFER_RESPONSE_HEADERS = ["accept-ranges", "content-length", "content-range", "content-type"];
const LOCKS = "Locks of Git LFS are made and removed by people, not from here.";

/**
 * `…/info/lfs/…`: large files of the run's repositories. The host says where each object is, often at another host and
 * with a key in the address. That stays here: the sandbox gets addresses of the gateway instead.
 */
export class LfsGateway {
  readonly #options: GitGateway;
  readonly #transfers = new Map<string, Transfer>();
  /** The sizes of all objects that may pass. */
  readonly #sizes = new Map<string, number>();

  constructor(options: GitGateway) {
    this.#options = options;
  }

  /** The client shows only errors of this form. */
  async serve(call: Call): Promise<void> {
    try {
      await this.#serve(call);
    } catch (error) {
      if (!(error instanceof Refusal)) {
        throw error;
      }
      const { headers, message, status } = error;
      sendWhole(call.response, status, { ...headers, "content-type": LFS_JSON }, JSON.stringify({ message }));
    }
  }

  #serve(call: Call): Promise<void> {
    const { name = "", owner = "", rest = "" } = PATH.exec(call.path)?.groups ?? {};
    const granted = grantedIn(this.#options.grant, { owner, name });
    const lfsCall = { ...call, rest, granted, repository: granted ?? { owner, name } };
    const { method } = call.request;
    if (rest.startsWith(TRANSFERS)) {
      return this.#transfer(lfsCall);
    }
    if (rest === "objects/batch" && method === "POST") {
      return this.#batch(lfsCall);
    }
    if ((rest === "locks" && method === "GET") || (rest === "locks/verify" && method === "POST")) {
      return this.#readLocks(lfsCall);
    }
    throw rest.startsWith("locks")
      ? new Refusal(403, LOCKS)
      : new Refusal(404, "This does not pass the gateway.");
  }

  async #batch(call: LfsCall): Promise<void> {
    const request = readMessage(batchRequest, await shortText(bodyOf(call.request, MESSAGE_BYTES)));
    if (request === undefined) {
      throw new Refusal(422, "This is no request for large files that the gateway understands.");
    }
    await this.#requireAllowed(call, request);
    const asked = { ...request, transfers: ["basic"] };
    const access = request.operation === "upload" ? "write" : "read";
    const response = await this.#callHost(call, access, Buffer.from(JSON.stringify(asked)));
    const answer = readMessage(batchResponse, await shortText(response.body));
    if (answer === undefined) {
      throw new Refusal(502, "The git host does not speak the batch API of Git LFS.");
    }
    this.#count(answer);
    const objects = answer.objects.map(({ actions = {}, ...object }) => ({
      ...object,
      authenticated: true,
      actions: this.#shownActions(call, object.size, actions),
    }));
    const body = JSON.stringify({ transfer: "basic", objects });
    sendWhole(call.response, 200, { "content-type": LFS_JSON }, body);
  }

  async #requireAllowed(call: LfsCall, { operation }: BatchRequest): Promise<void> {
    const { grant } = this.#options;
    const { granted, repository } = call;
    requireGrant({ ...repository, granted, isPush: operation === "upload", network: grant.network });
    const refusal = operation === "upload" ? await grant.refusalOfPush?.(repository) : undefined;
    if (refusal !== undefined) {
      throw new Refusal(403, refusal);
    }
  }

  /** The sizes are known before the first byte is transferred. */
  #count({ objects }: BatchResponse): void {
    const { lfsBytes } = this.#options.limits;
    const sizes = new Map(this.#sizes);
    for (const { oid, size } of objects.filter(({ actions }) => actions !== undefined)) {
      sizes.set(oid, Math.max(size, sizes.get(oid) ?? 0));
    }
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (bytes > lfsBytes) {
      throw new Refusal(
        413,
        `The large files would have ${bytes} bytes. All large files of a run may have ${lfsBytes} bytes.`,
      );
    }
    for (const [oid, size] of sizes) {
      this.#sizes.set(oid, size);
    }
  }

  #shownActions(call: LfsCall, size: number, actions: Partial<Record<LfsAction, ActionOfHost>>) {
    const base = shownAddress(call).slice(0, -call.rest.length);
    const shown = Object.entries(actions).map(([name, action]) => {
      const id = this.#keep({ ...action, size, action: name as LfsAction });
      return [name, defined({ href: `${base}${TRANSFERS}${id}`, expires_in: action.expires_in })] as const;
    });
    return Object.fromEntries(shown);
  }

  #keep(transfer: Transfer): string {
    const [oldest] = this.#transfers.keys();
    if (oldest !== undefined && this.#transfers.size >= TRANSFERS_MAX) {
      this.#transfers.delete(oldest);
    }
    const id = randomBytes(16).toString("hex");
    this.#transfers.set(id, transfer);
    return id;
  }

  async #transfer(call: LfsCall): Promise<void> {
    const { request, response, rest, signal } = call;
    const transfer = this.#transfers.get(rest.slice(TRANSFERS.length));
    if (transfer === undefined || request.method !== METHODS[transfer.action]) {
      throw new Refusal(404, "This transfer is not known, or no longer. Ask for the object again.");
    }
    const url = new URL(transfer.href);
    const isAtHost = url.origin === new URL(this.#options.gitUrl).origin;
    const limit = transfer.action === "verify" ? MESSAGE_BYTES : transfer.size;
    const far = await (isAtHost ? this.#options.upstream : this.#options.storage()).send(
      defined({
        url,
        method: METHODS[transfer.action],
        headers: {
          ...only(request.headers, TRANSFER_HEADERS),
          ...without(isAtHost ? await this.#withKey(call, transfer) : transfer.header, ["content-length"]),
          "accept-encoding": "identity",
        },
        signal,
        body: hasBody(request) ? bodyOf(request, limit) : undefined,
      }),
    );
    if (!isSuccess(far)) {
      drop(far);
      throw new Refusal(statusFor(far), `The storage of the large files answered with HTTP ${far.status}.`);
    }
    const headers = Object.entries(far.headers).filter(([name]) => TRANSFER_RESPONSE_HEADERS.includes(name));
    const through = transfer.action === "download" ? [new SizeLimit(transfer.size)] : [];
    await forwardResponse({ ...far, headers: Object.fromEntries(headers) }, response, { drop: [], through });
  }

  /** Some hosts expect the key of the batch call again. */
  async #withKey(
    { granted }: LfsCall,
    { action, header, href }: Transfer,
  ): Promise<Readonly<Record<string, string>>> {
    const hasKey = Object.keys(header).some((name) => name.toLowerCase() === "authorization");
    if (hasKey || granted === undefined) {
      return header;
    }
    const access = action === "download" ? "read" : "write";
    return {
      ...header,
      ...defined({ authorization: await keyFor(this.#options, { granted, url: href, access }) }),
    };
  }

  /** A client that pushes asks for the locks of others. It makes none. */
  async #readLocks(call: LfsCall): Promise<void> {
    const { grant } = this.#options;
    const isPush = call.rest === "locks/verify";
    requireGrant({ ...call.repository, granted: call.granted, isPush, network: grant.network });
    const { request } = call;
    const text = hasBody(request) ? await shortText(bodyOf(request, MESSAGE_BYTES)) : undefined;
    const body = text === undefined ? undefined : Buffer.from(text);
    const answer = await this.#callHost(call, isPush ? "write" : "read", body);
    sendWhole(call.response, 200, { "content-type": LFS_JSON }, (await shortText(answer.body)) ?? "");
  }

  /** The same path of the repository at its host. */
  async #callHost(
    call: LfsCall,
    access: "read" | "write",
    body: Buffer | undefined,
  ): Promise<UpstreamResponse> {
    const { egress, gitUrl, presentAddresses, upstream } = this.#options;
    const { granted, query, repository, request, rest, signal } = call;
    const usual = `${gitUrl}/${repository.owner}/${repository.name}.git`;
    const base = presentAddresses.get(usual) ?? usual;
    const authorization = granted && (await keyFor(this.#options, { granted, url: base, access }));
    const response = await (granted === undefined ? egress : upstream).send(
      defined({
        url: new URL(`${base}/info/lfs/${rest}${query}`),
        method: request.method ?? "POST",
        headers: { accept: LFS_JSON, "content-type": LFS_JSON, ...defined({ authorization }) },
        signal,
        body,
      }),
    );
    if (isSuccess(response)) {
      return response;
    }
    drop(response);
    throw new Refusal(statusFor(response), reasonOf(repository, response.status));
  }
}

/** The address that the client called, as it sees it. */
function shownAddress({ request: { headers, url = "" } }: Call): string {
  const [address = ""] = url.split("?");
  return address.startsWith("/") ? `http://${headers.host}${address}` : address;
}

/** Not 401, because the client would then ask for a name and a password. */
function statusFor({ status }: UpstreamResponse): number {
  if (status === 404 || status === 501 || status === 429) {
    return status;
  }
  return status >= 500 ? 502 : 403;
}

function reasonOf({ name, owner }: RepositoryName, status: number): string {
  return status === 404 || status === 501
    ? `The git host has no large files (Git LFS) for ${owner}/${name}, or Errand may not read or change them.`
    : `The git host refuses large files of ${owner}/${name} (HTTP ${status}).`;
}

/** Ends a download that is longer than the host said. */
class SizeLimit extends Transform {
  #left: number;

  constructor(bytes: number) {
    super();
    this.#left = bytes;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#left -= chunk.length;
    if (this.#left < 0) {
      done(new Error("The object is longer than announced."));
    } else {
      done(null, chunk);
    }
  }
}
