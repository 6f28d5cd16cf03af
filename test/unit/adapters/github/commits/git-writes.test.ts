import { expect, test } from "vitest";
import { GitWrites } from "../../../../../src/adapters/github/commits/git-writes.ts";

test("an installation makes 40 objects a minute, and a further one is told when it may", () => {
  let now = 1_000_000;
  const writes = new GitWrites(() => now);
  for (let at = 0; at < 40; at += 1) {
    writes.take("1");
    now += 1_000;
  }

  expect(() => writes.take("1")).toThrowError(
    expect.objectContaining({
      code: "resource_unavailable",
      options: expect.objectContaining({ retryAfterMs: 20_000 }),
    }),
  );
  writes.take("2");
  now += 20_000;
  writes.take("1");
});
