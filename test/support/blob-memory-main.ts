import { systemClock } from "../../src/app/system.ts";
import { KIBIBYTE, MEBIBYTE } from "../../src/core/basics/byte-units.ts";
import { createPrismaBlobStore } from "../../src/storage/blob-store.ts";
import { Database } from "../../src/storage/database.ts";
import { SILENT_LOG } from "./logs.ts";

/** Stores a blob, or reads one, and prints how much memory this takes in addition to the blob itself. */
const [url = "", action = "", sizeOrId = ""] = process.argv.slice(2);
const database = new Database({ url, maxConnections: 1, statementMs: 60_000, log: SILENT_LOG });
const blobs = createPrismaBlobStore(database, systemClock);
await blobs.get(await blobs.put(Buffer.alloc(MEBIBYTE)));

if (action === "put") {
  const blob = Buffer.alloc(Number(sizeOrId), "a line of a log\n");
  const before = peakBytes();
  const id = await blobs.put(blob);
  process.stdout.write(JSON.stringify({ id, extraBytes: peakBytes() - before }));
} else {
  const before = peakBytes();
  const { length } = await blobs.get(sizeOrId);
  process.stdout.write(JSON.stringify({ length, extraBytes: peakBytes() - before - length }));
}
await database.close();

function peakBytes(): number {
  return process.resourceUsage().maxRSS * KIBIBYTE;
}
