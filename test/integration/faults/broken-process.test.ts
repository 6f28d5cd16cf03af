import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { withFaultHarness } from "./fault-harness.ts";

/** Stands for any bug: on the signal an uncaught error is thrown, with a secret in its message. */
const BUG =
  "process.on('SIGUSR2', () => { throw new Error('broke with ' + process.env.ERRAND_ADMIN_KEY); });";

test("a process with an uncaught error logs it without secrets and exits, and the next one continues", () =>
  withFaultHarness(async (harness) => {
    const broken = await harness.start({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BUG)}`,
    });
    const semaphore = harness.semaphore();
    const runId = await harness.createRun(broken, `${semaphore.step}\nsay done`);
    await broken.api.waitForState(runId, "INPROGRESS");

    broken.signal("SIGUSR2");

    expect(await broken.ended()).toBe(1);
    await waitFor(() => broken.output().includes("broke with [redacted]"), { what: "its last words" });
    expect(broken.output()).toContain('"process.crashed"');
    await semaphore.open();
    const next = await harness.start();
    await next.api.waitForState(runId, "SUCCEEDED", 60_000);
    await harness.check();
  }));
