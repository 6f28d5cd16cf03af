import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { defined } from "../core/basics/defined.ts";
import { StorageUnavailable } from "../core/basics/errors.ts";
import { parseId } from "../core/basics/ids.ts";
import type { Log } from "../core/basics/log.ts";
import { BlobGone } from "../core/ports/blob-store.ts";
import type { ObjectStore, StoredObject } from "../core/ports/object-store.ts";
import type { S3Address } from "./s3-address.ts";

const CONNECT_MS = 3_000;
/** The name of the object with the owner. It is no id. */
const OWNER = "owner";
/** A connection without any traffic for so long is given up. A large object takes longer. */
const SILENT_MS = 20_000;
/** How often a read continues without having got a byte more. A server may end a short answer without an error. */
const RESUMES_MAX = 3;

export interface S3ObjectsOptions {
  readonly address: S3Address;
  /** Undefined: those of the files and roles that the SDK finds. */
  readonly credentials: S3ClientConfig["credentials"];
  readonly log: Pick<Log, "warn">;
}

export function openS3Objects(options: S3ObjectsOptions): ObjectStore {
  return new S3Objects(options);
}

class S3Objects implements ObjectStore {
  readonly location: string;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #folder: string;
  readonly #log: Pick<Log, "warn">;

  constructor({ address: { bucket, endpoint, prefix, region }, credentials, log }: S3ObjectsOptions) {
    this.#bucket = bucket;
    this.#folder = prefix === "" ? "" : `${prefix}/`;
    this.#log = log;
    this.location = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
    this.#client = new S3Client({
      ...defined({
        credentials,
        endpoint,
        region: region ?? (endpoint === undefined ? undefined : "us-east-1"),
      }),
      // Other servers than Amazon's seldom have a host name for each bucket, and some refuse the newer checksums.
      forcePathStyle: endpoint !== undefined,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENT_MS },
    });
  }

  async put(id: string, bytes: Uint8Array): Promise<void> {
    const command = new PutObjectCommand({ ...this.#named(id), Body: bytes, ContentLength: bytes.length });
    await this.#client.send(command).catch((error) => this.#fail("put", error));
  }

  async *read(id: string, sizeBytes: number): AsyncIterable<Uint8Array> {
    let from = 0;
    for (let tries = 0; from < sizeBytes && tries <= RESUMES_MAX; tries += 1) {
      try {
        for await (const piece of await this.#open(id, from)) {
          from += piece.length;
          tries = 0;
          yield piece;
        }
      } catch (error) {
        if (error instanceof S3ServiceException && error.name === "InvalidRange") {
          return;
        }
        if (tries === RESUMES_MAX || isAnswer(error)) {
          this.#fail("read", error);
        }
      }
    }
  }

  async remove(id: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#named(id));
    await this.#client.send(command).catch((error) => this.#fail("remove", error));
  }

  async *list(afterId: string, beforeId: string): AsyncIterable<readonly StoredObject[]> {
    let after = this.#folder + afterId;
    for (let isMore = true; isMore; ) {
      const command = new ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix: this.#folder,
        StartAfter: after,
      });
      const { Contents = [], IsTruncated } = await this.#client
        .send(command)
        .catch((error) => this.#fail("list", error));
      const last = Contents.at(-1)?.Key ?? "";
      isMore = IsTruncated === true && last < this.#folder + beforeId;
      after = last;
      yield Contents.flatMap(({ Key = "", LastModified }) => {
        const id = parseId(Key.slice(this.#folder.length));
        const isListed = id !== undefined && id < beforeId && LastModified !== undefined;
        return isListed ? [{ id, storedAt: LastModified }] : [];
      });
    }
  }

  async owner(candidate: string): Promise<string> {
    const named = this.#named(OWNER);
    const read = async () => {
      const { Body } = await this.#client.send(new GetObjectCommand(named));
      return (await Body?.transformToString()) ?? "";
    };
    try {
      return await read().catch(async (error) => {
        if (error.name !== "NoSuchKey") {
          throw error;
        }
        // Of two processes, one may be refused.
        const put = new PutObjectCommand({ ...named, Body: candidate, IfNoneMatch: "*" });
        await this.#client.send(put).catch(() => undefined);
        return read();
      });
    } catch (error) {
      return this.#fail("owner", error);
    }
  }

  close(): void {
    this.#client.destroy();
  }

  #named(id: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#folder + id };
  }

  async #open(id: string, from: number): Promise<Readable> {
    const range = from === 0 ? undefined : `bytes=${from}-`;
    const command = new GetObjectCommand({ ...this.#named(id), ...defined({ Range: range }) });
    const { Body } = await this.#client.send(command);
    if (!(Body instanceof Readable)) {
      throw new TypeError("The object store answered without a body.");
    }
    return Body;
  }

  /** The text of an error may contain a signed address, so only its name is told. */
  #fail(operation: string, error: unknown): never {
    const name = nameOf(error);
    if (name === "NoSuchKey") {
      throw new BlobGone();
    }
    const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    this.#log.warn("object_store.failed", defined({ operation, error: name, status }));
    const said = status === undefined ? name : `${name}, ${status}`;
    throw new StorageUnavailable(`The object store cannot be used now (${said}).`, { cause: error });
  }
}

/** A failed connection has a code, such as `ECONNREFUSED`. */
function nameOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : error instanceof Error ? error.name : "Error";
}

/** The SDK has repeated the call if that could help. */
function isAnswer(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode !== undefined;
}
