import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";

test("waitFor resolves with the first truthy value, also after errors", async () => {
  let tries = 0;
  const check = () => {
    tries += 1;
    if (tries === 1) {
      throw new Error("not there yet");
    }
    return tries === 3 && { found: tries };
  };

  const value = await waitFor(check, { what: "the third try", everyMs: 1 });

  expect(value).toEqual({ found: 3 });
});

test("waitFor fails with the name of the condition and the last error", async () => {
  const check = async () => {
    throw new Error("connection refused");
  };

  const waiting = waitFor(check, { what: "the server", timeoutMs: 20, everyMs: 1 });

  await expect(waiting).rejects.toThrow("Waited 20 ms in vain for the server: connection refused");
});
