import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { MEBIBYTE } from "../../../src/core/basics/byte-units.ts";
import { createTestDatabase } from "../../support/test-database.ts";

const MAIN = join(import.meta.dirname, "../../support/blob-memory-main.ts");
/** The length of the longest checkpoint. */
const LENGTH = 64 * MEBIBYTE;

test("a blob is stored with little more memory than its own, and read without a second copy", async () => {
  const { drop, url } = await createTestDatabase();
  onTestFinished(drop);

  const stored = await measure(url, "put", String(LENGTH));
  const read = await measure(url, "get", stored.id ?? "");

  expect(stored.extraBytes).toBeLessThan(16 * MEBIBYTE);
  expect(read).toMatchObject({ length: LENGTH });
  expect(read.extraBytes).toBeLessThan(LENGTH);
});

interface Measured {
  readonly id?: string;
  readonly extraBytes: number;
}

async function measure(...args: readonly string[]): Promise<Measured> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args]);
  return JSON.parse(stdout);
}
