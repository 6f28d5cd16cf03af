import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it as test } from "vitest";
import { CHANNELS, type PubSub } from "../../src/core/ports/pubsub.ts";
import { waitFor } from "../support/wait-for.ts";

export interface PubSubHarness {
  /** Two processes; where there is only one, both are it. */
  readonly here: PubSub;
  readonly there: PubSub;
  close(): Promise<void>;
}

/** What every implementation of `PubSub` promises. */
export function describePubSub(name: string, open: () => Promise<PubSubHarness>): void {
  describe(`the ${name} pub/sub`, () => {
    let harness: PubSubHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    test.each(["here", "there"] as const)("a notification reaches the listeners %s", async (place) => {
      const calls = listen(harness[place], "run:1");

      harness.here.publish(["run:0", "run:1"]);

      await calls.something();
    });

    test("a change of the rules reaches the listeners of its own process before publish returns", () => {
      const rules = listen(harness.here, CHANNELS.policies);
      harness.here.publish(["run:0"]);

      harness.here.publish([CHANNELS.policies]);

      expect(rules.count).toBe(1);
    });

    test("a notification does not reach the listeners of other channels", async () => {
      const other = listen(harness.there, "run:2");
      const calls = listen(harness.there, "run:1");

      harness.here.publish(["run:1"]);

      await calls.something();
      expect(other.count).toBe(0);
    });

    test("a notification reaches every listener of a channel until it unsubscribes", async () => {
      const [gone, first, second] = [0, 1, 2].map(() => listen(harness.there, "run:1"));
      gone?.unsubscribe();

      harness.here.publish(["run:1"]);

      await first?.something();
      await second?.something();
      expect(gone?.count).toBe(0);
    });

    test("a listener may unsubscribe while it is called, and another may subscribe", async () => {
      const calls = listen(harness.there, "run:1");
      const late: (() => void)[] = [];
      const unsubscribe = harness.there.subscribe("run:1", () => {
        unsubscribe();
        late.push(harness.there.subscribe("run:1", () => undefined));
      });

      harness.here.publish(["run:1"]);

      await calls.something();
      for (const stop of late) {
        stop();
      }
    });

    test("several notifications at once are sent as one", async () => {
      const calls = listen(harness.there, "run:1");
      const last = listen(harness.there, "last");

      for (let index = 0; index < 500; index += 1) {
        harness.here.publish(["run:1"]);
      }
      harness.here.publish(["last"]);

      await last.something();
      expect(calls.count).toBeGreaterThan(0);
      expect(calls.count).toBeLessThan(10);
    });

    test("a notification is delivered once in its own process", async () => {
      const calls = listen(harness.here, "run:1");
      const [there, back] = [listen(harness.there, "run:1"), listen(harness.here, "back")];
      harness.here.publish(["run:1"]);
      await there.something();

      // It comes by the same way as an echo would, and behind it.
      harness.there.publish(["back"]);

      await back.something();
      expect(calls.count).toBe(1);
    });

    test("any number of channels is delivered", async () => {
      const channels = Array.from({ length: 1_000 }, () => `run:${randomUUID()}`);
      const calls = channels.map((channel) => listen(harness.there, channel));

      harness.here.publish(channels);

      for (const one of calls) {
        await one.something();
      }
    });

    test("notifications one after the other are all delivered", async () => {
      const calls = listen(harness.there, "run:1");

      for (let index = 1; index <= 3; index += 1) {
        const before = calls.count;
        harness.here.publish(["run:1"]);
        await waitFor(() => calls.count > before, { what: "the next notification" });
      }
    });
  });
}

export function listen(pubsub: PubSub, channel: string) {
  const calls = { count: 0, unsubscribe: () => {}, something: async () => {} };
  calls.unsubscribe = pubsub.subscribe(channel, () => {
    calls.count += 1;
  });
  calls.something = async () => {
    await waitFor(() => calls.count > 0, { what: `a notification on ${channel}`, everyMs: 2 });
  };
  return calls;
}
