import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { nameUuid } from "../../../../src/api/schemas/timeline.ts";

test("the UUID of a name is the SHA-1 of namespace and name, marked as version 5", () => {
  const namespace = Buffer.from("8d5a6a3e5f0c4c1e9b7de2a1f4c30917", "hex");
  const digest = createHash("sha1").update(namespace).update("run/1").digest("hex");
  const uuid = nameUuid("run/1");

  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuid.slice(0, 13)).toBe(`${digest.slice(0, 8)}-${digest.slice(8, 12)}`);
  expect(uuid.slice(-12)).toBe(digest.slice(20, 32));
});
