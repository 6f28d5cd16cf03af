import { createHash, randomBytes, randomUUID } from "node:crypto";
import { readdir, utimes, writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { MEBIBYTE } from "../../../src/core/basics/byte-units.ts";
import { newId } from "../../../src/core/basics/ids.ts";
import type { BlobStore } from "../../../src/core/ports/blob-store.ts";
import type { ObjectStore } from "../../../src/core/ports/object-store.ts";
import { objectStoreCheck } from "../../../src/core/upkeep/object-store-check.ts";
import { parseS3Address } from "../../../src/object-storage/s3-address.ts";
import { openS3Objects } from "../../../src/object-storage/s3-objects.ts";
import { createPrismaBlobStore } from "../../../src/storage/blob-store.ts";
import { Database } from "../../../src/storage/database.ts";
import { moveBlobs } from "../../../src/storage/move-blobs.ts";
import {
  createObjectBlobStore,
  findOtherLocation,
  findOtherOwner,
} from "../../../src/storage/object-blob-store.ts";
import { freePort } from "../../support/free-port.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { reasonToSkipS3, S3_KEY, S3Server } from "../../support/s3-server.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const DAY_MS = 86_400_000;
const skipped = reasonToSkipS3();

describe.skipIf(skipped !== undefined)(`blobs in an object store (${skipped ?? "there"})`, () => {
  let origin: TestDatabase;
  let database: Database;
  let server: S3Server;
  let objects: ObjectStore;
  let rows: BlobStore;
  let blobs: BlobStore;
  let logged: unknown[];

  beforeAll(async () => {
    server = await S3Server.start();
    origin = await createTestDatabase();
    database = new Database({ url: origin.url, maxConnections: 4, log: SILENT_LOG });
    rows = createPrismaBlobStore(database, systemClock);
  });
  beforeEach(() => {
    logged = [];
    const log = { warn: (...facts: unknown[]) => void logged.push(facts) };
    objects = openS3Objects({ address: server.address, credentials: S3_KEY, log });
    blobs = createObjectBlobStore({ database, objects, rows, clock: systemClock });
  });
  afterEach(async () => {
    server.interfere = undefined;
    server.alter = undefined;
    objects.close();
    await database.query((client) => client.blob.deleteMany());
    await database.query((client) => client.blobRemoval.deleteMany());
  });
  afterAll(async () => {
    await database?.close();
    await origin?.drop();
    await server?.stop();
  });

  // The server removes an empty folder.
  const isStored = async (id: string) =>
    (await readdir(server.objectsFolder).catch((): string[] => [])).includes(id);
  const locationOf = async (id: string) =>
    (await database.query((client) => client.blob.findUnique({ where: { id } })))?.location;

  describe("a blob", () => {
    test.each([0, 1, MEBIBYTE, 2 * MEBIBYTE + 3])(
      "of %i bytes is an object and not in its row",
      async (size) => {
        const bytes = randomBytes(size);

        const id = await blobs.put(bytes);

        expect(await locationOf(id)).toBe("s3://errand/blobs");
        expect(await isStored(id)).toBe(true);
        expect(bytes.equals(await blobs.get(id))).toBe(true);
        expect(bytes.equals(await buffer(blobs.read(id)))).toBe(true);
        expect(await blobs.sha256(id)).toBe(createHash("sha256").update(bytes).digest("hex"));
      },
    );

    test("that is in the database is read there", async () => {
      const id = await rows.put(Buffer.from("in the row"));
      server.requests.length = 0;

      expect(Buffer.from(await blobs.get(id)).toString()).toBe("in the row");
      expect((await buffer(blobs.read(id))).toString()).toBe("in the row");
      expect(server.requests).toEqual([]);
    });

    test("whose row is deleted loses its object, also when the store is away at first", async () => {
      const [id, other] = [await blobs.put(Buffer.from("a")), await blobs.put(Buffer.from("b"))];
      await blobs.remove(id);
      await blobs.remove(id);
      server.interfere = refuse(503);
      await expect(blobs.prune()).rejects.toMatchObject({ code: "resource_unavailable" });
      server.interfere = undefined;

      expect(await blobs.prune()).toBe(1);
      expect(await blobs.prune()).toBe(0);

      expect([await isStored(id), await isStored(other)]).toEqual([false, true]);
      await expect(blobs.get(id)).rejects.toMatchObject({ code: "internal_error", retryable: false });
    });

    test("that the store refuses has no row", async () => {
      server.interfere = refuse(403);

      await expect(blobs.put(Buffer.from("a"))).rejects.toMatchObject({ code: "resource_unavailable" });

      expect(await database.query((client) => client.blob.count())).toBe(0);
    });
  });

  test("an object without a row is deleted after a day, and not before", async () => {
    const at = (days: number) => new Date(Date.now() - days * DAY_MS);
    const [old, young, moved] = [newId(at(2)), newId(at(0.5)), newId(at(3))];
    const kept = newId(at(2));
    for (const id of [old, young, moved, kept]) {
      await objects.put(id, Buffer.from("x"));
    }
    for (const id of [old, kept]) {
      await utimes(server.fileOf(id), at(2), at(2));
    }
    await database.query((client) =>
      client.blob.create({ data: { id: kept, location: objects.location, sha256: "", sizeBytes: 1 } }),
    );

    const count = await blobs.prune();

    const left = await Promise.all([old, young, moved, kept].map(isStored));
    expect({ count, left }).toEqual({ count: 1, left: [false, true, true, true] });
  });

  describe("a store that fails", () => {
    test.each([500, 503])("once with %i is asked again", async (status) => {
      let isFirst = true;
      server.interfere = (request, response) => {
        const passes = !isFirst;
        isFirst = false;
        return passes || refuse(status)(request, response);
      };

      const id = await blobs.put(Buffer.from("asked again"));

      expect(Buffer.from(await blobs.get(id)).toString()).toBe("asked again");
    });

    test.each([403, 404, 500, 503])(
      "with %i makes the work wait, and says so without a secret",
      async (status) => {
        server.interfere = refuse(status);

        const error = await blobs.put(Buffer.from("x")).catch((error: Error) => error);

        expect(error).toMatchObject({
          code: "resource_unavailable",
          message: expect.stringContaining(`${status}`),
        });
        expect(logged).toHaveLength(1);
        expect(JSON.stringify([logged, String(error)])).not.toMatch(/canary|Signature|errand-test/);
      },
    );

    test("in the middle of an object is asked for the rest", async () => {
      const bytes = randomBytes(3 * MEBIBYTE);
      const id = await blobs.put(bytes);
      let cuts = 2;
      server.alter = (answer, response) => {
        let passed = 0;
        answer.on("data", (piece: Buffer) => {
          passed += piece.length;
          response.write(piece);
          if (cuts > 0 && passed > MEBIBYTE) {
            cuts -= 1;
            response.destroy();
          }
        });
        answer.on("end", () => response.end());
      };

      expect(bytes.equals(await blobs.get(id))).toBe(true);
      expect(cuts).toBe(0);
    });

    test("with other bytes never completes a read", async () => {
      const bytes = randomBytes(MEBIBYTE);
      const id = await blobs.put(bytes);
      await writeFile(server.fileOf(id), randomBytes(MEBIBYTE));
      let read = 0;

      const reading = (async () => {
        for await (const piece of blobs.read(id)) {
          read += piece.length;
        }
      })();

      await expect(reading).rejects.toMatchObject({ message: "A stored file is damaged.", retryable: false });
      expect(read).toBeLessThan(MEBIBYTE);
      await expect(blobs.get(id)).rejects.toMatchObject({ message: "A stored file is damaged." });
    });

    test.each([0, MEBIBYTE / 2, 2 * MEBIBYTE])(
      "with %i bytes instead of a MiB never completes a read",
      async (length) => {
        const id = await blobs.put(randomBytes(MEBIBYTE));
        await writeFile(server.fileOf(id), randomBytes(length));

        await expect(blobs.get(id)).rejects.toMatchObject({ message: "A stored file is damaged." });
        server.interfere = (request, response) => {
          request.resume();
          response.writeHead(206, { "content-length": length }).end(Buffer.alloc(length));
          return false;
        };
        await expect(blobs.get(id)).rejects.toMatchObject({ message: "A stored file is damaged." });
      },
    );

    test("by losing an object says that it is gone", async () => {
      const id = await blobs.put(Buffer.from("x"));
      await objects.remove(id);

      await expect(blobs.get(id)).rejects.toMatchObject({
        message: "A stored file is gone.",
        retryable: false,
      });
    });
  });

  describe("moving", () => {
    const count = async (from?: ObjectStore, to?: ObjectStore) => {
      const source = from === undefined ? rows : blobs;
      let moved = 0;
      for await (moved of moveBlobs({ database, blobs: source, from, to })) {
      }
      return moved;
    };

    test("takes all blobs to the store and back, and can be repeated", async () => {
      const bytes = [randomBytes(MEBIBYTE + 1), Buffer.alloc(0), Buffer.from("small")];
      const ids = await Promise.all(bytes.map((each) => rows.put(each)));

      expect([await count(undefined, objects), await count(undefined, objects)]).toEqual([3, 0]);
      expect(await findOtherLocation(database, objects.location)).toBeUndefined();
      expect(await findOtherLocation(database, undefined)).toBe(objects.location);
      expect(await findOtherLocation(database, "s3://another")).toBe(objects.location);
      for (const [index, id] of ids.entries()) {
        expect(bytes[index]?.equals(await blobs.get(id))).toBe(true);
      }

      expect([await count(objects, undefined), await count(objects, undefined)]).toEqual([3, 0]);
      expect(await findOtherLocation(database, undefined)).toBeUndefined();
      for (const [index, id] of ids.entries()) {
        expect(bytes[index]?.equals(await rows.get(id))).toBe(true);
        expect(await isStored(id)).toBe(false);
      }
    });

    test("there and back and there keeps the object although its removal was still due", async () => {
      const id = await rows.put(Buffer.from("to and fro"));
      await count(undefined, objects);
      const text = "UPDATE blobs SET bytes = 'to and fro', location = NULL WHERE id = $1::uuid";
      await database.rows({ text, values: [id] });

      await count(undefined, objects);
      await blobs.prune();

      expect(Buffer.from(await blobs.get(id)).toString()).toBe("to and fro");
    });

    test("leaves no object of a blob that was deleted meanwhile", async () => {
      const id = await rows.put(Buffer.from("deleted"));
      server.interfere = (request) => {
        if (request.method === "PUT") {
          request.pause();
          void rows.remove(id).then(() => request.resume());
        }
        return true;
      };

      expect(await count(undefined, objects)).toBe(0);
      server.interfere = undefined;
      await blobs.prune();

      expect(await isStored(id)).toBe(false);
    });
  });

  test("the doctor stores and reads a file, and says what the store answers", async () => {
    const check = objectStoreCheck(objects, systemClock, () => findOtherOwner(database, objects));
    await blobs.prune();
    const before = await readdir(server.objectsFolder);

    const finding = await check.run();
    const after = await readdir(server.objectsFolder);
    server.interfere = refuse(403);
    const refused = await check.run();

    expect(finding).toMatchObject({
      status: "ok",
      message: expect.stringMatching(/^s3:\/\/errand\/blobs stored and read a file in \d+ ms\.$/),
    });
    expect(after).toEqual(before);
    expect(refused).toMatchObject({
      status: "fail",
      message: expect.stringMatching(/^s3:\/\/errand\/blobs: .*403/),
    });
  });

  test("a copy of a database deletes nothing in the store of its original, and the doctor says so", async () => {
    const id = await blobs.put(Buffer.from("of the original"));
    await utimes(server.fileOf(id), new Date(0), new Date(0));
    await blobs.prune();
    const copy = await createTestDatabase();
    const other = new Database({ url: copy.url, maxConnections: 1, log: SILENT_LOG });
    const clock = { ...systemClock, now: () => new Date(Date.now() + 2 * DAY_MS) };
    const ofCopy = createObjectBlobStore({
      ...{ database: other, objects, clock },
      rows: createPrismaBlobStore(other, clock),
    });

    const pruned = await ofCopy.prune();
    const check = objectStoreCheck(objects, clock, () => findOtherOwner(other, objects));
    const finding = await check.run();
    await objects.remove("owner");
    const prunedByOwner = await ofCopy.prune();
    await objects.remove("owner");
    await other.close();
    await copy.drop();

    expect(pruned).toBe(0);
    expect(prunedByOwner).toBeGreaterThan(0);
    expect(finding).toMatchObject({ status: "fail", message: expect.stringContaining("another database") });
    expect(await isStored(id)).toBe(false);
  });

  test("an address at which nothing listens is named by the reason of the connection", async () => {
    const address = { ...server.address, endpoint: `http://127.0.0.1:${await freePort()}` };
    const other = openS3Objects({ address, credentials: S3_KEY, log: SILENT_LOG });

    await expect(other.put(randomUUID(), Buffer.from("x"))).rejects.toMatchObject({
      code: "resource_unavailable",
      message: "The object store cannot be used now (ECONNREFUSED).",
    });
    other.close();
  });

  test("a bucket that does not exist is no lost file", async () => {
    const elsewhere = { ...server.address, bucket: `none-${randomUUID()}` };
    const other = openS3Objects({ address: elsewhere, credentials: S3_KEY, log: SILENT_LOG });

    await expect(buffer(other.read(randomUUID(), 1))).rejects.toMatchObject({ code: "resource_unavailable" });
    other.close();
  });
});

function refuse(status: number): NonNullable<S3Server["interfere"]> {
  return (request, response) => {
    request.resume();
    response.writeHead(status).end();
    return false;
  };
}

test.each([
  ["s3://bucket", { bucket: "bucket", prefix: "", endpoint: undefined, region: undefined }],
  ["s3://bucket/", { bucket: "bucket", prefix: "" }],
  ["s3://my.bucket/a/b/?region=eu-central-1", { bucket: "my.bucket", prefix: "a/b", region: "eu-central-1" }],
  ["s3://bucket/a?endpoint=http://minio:9000", { endpoint: "http://minio:9000" }],
])("the address %s is read", (text, address) => {
  expect(parseS3Address(text)).toMatchObject(address);
});
