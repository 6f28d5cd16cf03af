import fc from "fast-check";
import { expect, test } from "vitest";
import { RequestBuckets } from "../../../../src/api/http/rate-limit.ts";

class Time {
  ms = 1_000_000.25;
  readonly elapsedMs = (): number => this.ms;
}

function buckets(time: Time, { max = 600, windowMs = 60_000 } = {}): RequestBuckets {
  return new RequestBuckets({ max, windowMs, elapsedMs: time.elapsedMs });
}

test("a full bucket lets the whole limit pass at once and refuses the next request", () => {
  const bucket = buckets(new Time(), { max: 3 });

  const taken = [1, 2, 3, 4].map(() => bucket.take("ann"));

  expect(taken.map(({ isAllowed, remaining }) => [isAllowed, remaining])).toEqual([
    [true, 2],
    [true, 1],
    [true, 0],
    [false, 0],
  ]);
  expect(taken.map(({ resetMs }) => resetMs)).toEqual([20_000, 40_000, 60_000, 20_000]);
});

test("a refused request passes after the announced wait, and not a moment earlier", () => {
  const time = new Time();
  const bucket = buckets(time);
  for (let count = 0; count < 600; count += 1) {
    bucket.take("ann");
  }

  const { resetMs } = bucket.take("ann");
  time.ms += resetMs - 1;
  const early = bucket.take("ann");
  time.ms += 1;

  expect(resetMs).toBe(100);
  expect([early.isAllowed, early.resetMs]).toEqual([false, 1]);
  expect(bucket.take("ann").isAllowed).toBe(true);
  expect(bucket.take("ann").isAllowed).toBe(false);
});

test("a bucket refills continuously and holds no more than the limit", () => {
  const time = new Time();
  const bucket = buckets(time, { max: 10, windowMs: 1_000 });
  for (let count = 0; count < 10; count += 1) {
    bucket.take("ann");
  }

  time.ms += 350;
  expect(bucket.take("ann").remaining).toBe(2);
  time.ms += 3_600_000;
  expect(bucket.take("ann").remaining).toBe(9);
});

test("each caller has its own bucket, and only the most recent callers are kept", () => {
  const bucket = buckets(new Time(), { max: 2 });
  bucket.take("ann");
  bucket.take("ann");

  expect(bucket.take("ben").isAllowed).toBe(true);
  expect(bucket.take("ann").isAllowed).toBe(false);

  for (let count = 0; count < 10_000; count += 1) {
    bucket.take(`caller ${count}`);
  }
  expect(bucket.take("ann").isAllowed).toBe(true);
});

test("for any limit, the whole limit passes at once and the announced wait is enough", () => {
  const limits = fc.record({
    max: fc.integer({ min: 1, max: 700 }),
    windowMs: fc.integer({ min: 1, max: 90_000 }),
  });

  fc.assert(
    fc.property(limits, (options) => {
      const time = new Time();
      const bucket = buckets(time, options);
      for (let count = 0; count < options.max; count += 1) {
        expect(bucket.take("ann").isAllowed).toBe(true);
      }
      const { isAllowed, resetMs } = bucket.take("ann");
      expect(isAllowed).toBe(false);
      time.ms += resetMs;
      expect(bucket.take("ann").isAllowed).toBe(true);
    }),
  );
});
