import { beforeEach, expect, test } from "vitest";
import { untilAvailable } from "../../../../src/core/attempts/until-available.ts";
import { AppError } from "../../../../src/core/errors.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

function away(): AppError {
  return new AppError("resource_unavailable", "The database is away.");
}

test("what is away for a while is waited for", async () => {
  const faults = [away(), away()];
  const working = untilAvailable(clock, async () => {
    const fault = faults.shift();
    if (fault !== undefined) throw fault;
    return "done";
  });

  await clock.advance(1_000);

  expect(await working).toBe("done");
  expect(clock.pending).toBe(0);
});

test("what is away for longer than a minute is given up", async () => {
  let tries = 0;
  const working = untilAvailable(clock, async () => {
    tries += 1;
    throw away();
  });
  const given = expect(working).rejects.toMatchObject({ code: "resource_unavailable" });

  await clock.advance(61_000);

  await given;
  expect(tries).toBeGreaterThan(100);
  expect(clock.pending).toBe(0);
});

test("anything else is not tried again", async () => {
  let tries = 0;
  const failing = async () => {
    tries += 1;
    throw new AppError("invalid_request", "No.");
  };

  await expect(untilAvailable(clock, failing)).rejects.toMatchObject({ code: "invalid_request" });

  expect(tries).toBe(1);
});
