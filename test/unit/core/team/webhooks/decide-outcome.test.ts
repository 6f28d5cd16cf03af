import { describe, expect, test } from "vitest";
import { decideOutcome, type Tried } from "../../../../../src/core/team/webhooks/complete-try.ts";
import { answered } from "./webhook-harness.ts";

const now = new Date("2026-03-06T12:00:00.000Z");
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);

const decide = (tried: Partial<Tried>) => decideOutcome({ answer: answered(500), step: 1, now, ...tried });

describe("an attempt to deliver", () => {
  test.each([200, 201, 204, 299])("an attempt answered with %i has delivered", (status) => {
    expect(decide({ answer: answered(status) })).toEqual({ state: "delivered" });
  });

  test.each([100, 301, 302, 307, 308, 400, 401, 404, 409, 413, 429, 500, 502, 503])(
    "an attempt answered with %i is repeated",
    (status) => {
      expect(decide({ answer: answered(status) })).toEqual({
        state: "waiting",
        error: `The receiver answered HTTP ${status}.`,
        retryAfterMs: expect.any(Number),
      });
    },
  );

  test("an attempt without an answer is repeated", () => {
    const error = "There was no answer within 15000 ms.";

    expect(decide({ answer: { durationMs: 15_000, error } })).toMatchObject({ state: "waiting", error });
  });

  test("the last failed attempt gives up the delivery", () => {
    expect(decide({ step: 10 })).toEqual({ state: "dead", error: "The receiver answered HTTP 500." });
  });

  test("an attempt answered with 410 disables the endpoint", () => {
    expect(decide({ answer: answered(410) })).toEqual({
      state: "dead",
      error: "The receiver answered HTTP 410.",
      disable: "The receiver answered 410 Gone.",
    });
  });

  test("an answer of an address that the endpoint no longer has does not disable the endpoint", () => {
    const hasMoved = true;

    expect(decide({ hasMoved, answer: answered(410) })).toMatchObject({ state: "waiting" });
    expect(decide({ hasMoved, failingSince: daysAgo(5) })).toMatchObject({ state: "waiting" });
    expect(decide({ hasMoved, step: 10 })).toEqual({
      state: "dead",
      error: "The receiver answered HTTP 500.",
    });
  });

  test("an attempt that fails after five days of nothing but failures disables the endpoint", () => {
    expect(decide({ failingSince: daysAgo(4.99) })).toMatchObject({ state: "waiting" });
    expect(decide({ failingSince: daysAgo(5) })).toMatchObject({
      state: "dead",
      disable: "Every try of the last 5 days failed. The receiver answered HTTP 500.",
    });
    expect(decide({ failingSince: daysAgo(5), answer: answered(200) })).toEqual({ state: "delivered" });
  });

  test.each([
    [429, true],
    [503, true],
    [500, false],
    [302, false],
  ])("an attempt answered with %i and Retry-After respects it: %s", (status, isHeeded) => {
    const outcome = decide({ answer: answered(status, 3_600_000) });

    expect(outcome.state === "waiting" && outcome.retryAfterMs >= 3_600_000).toBe(isHeeded);
  });
});
