import { beforeEach, expect, test } from "vitest";
import { AppError } from "../../../../src/core/basics/errors.ts";
import { retry, THREE_TRIES, WHILE_UNAVAILABLE } from "../../../../src/core/basics/retry.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

function away(): AppError {
  return new AppError("resource_unavailable", "The database is away.");
}

test("a call to an unavailable resource is retried until it is back", async () => {
  const faults = [away(), away()];
  const working = retry(clock, WHILE_UNAVAILABLE, async () => {
    const fault = faults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    return "done";
  });

  await clock.advance(1_000);

  expect(await working).toBe("done");
  expect(clock.pending).toBe(0);
});

test("a call to a resource that is unavailable for more than a minute is given up", async () => {
  let tries = 0;
  const working = retry(clock, WHILE_UNAVAILABLE, async () => {
    tries += 1;
    throw away();
  });
  const rejection = expect(working).rejects.toMatchObject({ code: "resource_unavailable" });

  await clock.advance(61_000);

  await rejection;
  expect(tries).toBeGreaterThan(100);
  expect(clock.pending).toBe(0);
});

test("other errors are not retried", async () => {
  let tries = 0;
  const failing = async () => {
    tries += 1;
    throw new AppError("invalid_request", "No.");
  };

  await expect(retry(clock, WHILE_UNAVAILABLE, failing)).rejects.toMatchObject({ code: "invalid_request" });

  expect(tries).toBe(1);
});

function refused(retryAfterMs?: number): AppError {
  const delay = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new AppError("resource_unavailable", "Later.", { retryable: true, ...delay });
}

test("a refusal is retried twice, after a pause that doubles", async () => {
  const triedAtMs: number[] = [];
  const startMs = clock.now().getTime();
  const working = retry(clock, THREE_TRIES, async () => {
    triedAtMs.push(clock.now().getTime() - startMs);
    throw refused();
  });
  const rejected = expect(working).rejects.toMatchObject({ code: "resource_unavailable" });

  await clock.advance(30_000);

  await rejected;
  expect(triedAtMs).toEqual([0, 2_000, 6_000]);
});

test("a refusal that names a long pause is not retried", async () => {
  let tries = 0;
  const failing = async () => {
    tries += 1;
    throw refused(20_001);
  };

  await expect(retry(clock, THREE_TRIES, failing)).rejects.toMatchObject({ code: "resource_unavailable" });

  expect(tries).toBe(1);
});
