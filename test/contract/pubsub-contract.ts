import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it as test } from "vitest";
import { CHANNELS, type PubSub } from "../../src/core/ports/pubsub.ts";
import { waitFor } from "../support/wait-for.ts";

export interface NewsHarness {
  /** Two processes; where there is only one, both are it. */
  readonly here: PubSub;
  readonly there: PubSub;
  close(): Promise<void>;
}

/** What every news promises. */
export function describeNews(name: string, open: () => Promise<NewsHarness>): void {
  describe(`the ${name} news`, () => {
    let harness: NewsHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    test.each(["here", "there"] as const)("are heard %s", async (place) => {
      const heard = listen(harness[place], "run:1");

      harness.here.publish(["run:0", "run:1"]);

      await heard.something();
    });

    test("a change of the rules reaches the listeners of its own process before publish returns", () => {
      const rules = listen(harness.here, CHANNELS.policies);
      harness.here.publish(["run:0"]);

      harness.here.publish([CHANNELS.policies]);

      expect(rules.count).toBe(1);
    });

    test("are not heard by listeners of other topics", async () => {
      const other = listen(harness.there, "run:2");
      const heard = listen(harness.there, "run:1");

      harness.here.publish(["run:1"]);

      await heard.something();
      expect(other.count).toBe(0);
    });

    test("reach every listener of a topic, until it listens no more", async () => {
      const [gone, first, second] = [0, 1, 2].map(() => listen(harness.there, "run:1"));
      gone?.unsubscribe();

      harness.here.publish(["run:1"]);

      await first?.something();
      await second?.something();
      expect(gone?.count).toBe(0);
    });

    test("a listener may stop listening while it is told, and another may begin", async () => {
      const heard = listen(harness.there, "run:1");
      const late: (() => void)[] = [];
      const unsubscribe = harness.there.subscribe("run:1", () => {
        unsubscribe();
        late.push(harness.there.subscribe("run:1", () => undefined));
      });

      harness.here.publish(["run:1"]);

      await heard.something();
      for (const stop of late) {
        stop();
      }
    });

    test("several at once go out as one", async () => {
      const heard = listen(harness.there, "run:1");
      const last = listen(harness.there, "last");

      for (let index = 0; index < 500; index += 1) {
        harness.here.publish(["run:1"]);
      }
      harness.here.publish(["last"]);

      await last.something();
      expect(heard.count).toBeGreaterThan(0);
      expect(heard.count).toBeLessThan(10);
    });

    test("are heard once where they were told", async () => {
      const heard = listen(harness.here, "run:1");
      const [there, back] = [listen(harness.there, "run:1"), listen(harness.here, "back")];
      harness.here.publish(["run:1"]);
      await there.something();

      // It comes by the same way as an echo would, and behind it.
      harness.there.publish(["back"]);

      await back.something();
      expect(heard.count).toBe(1);
    });

    test("any number of topics goes through", async () => {
      const channels = Array.from({ length: 1_000 }, () => `run:${randomUUID()}`);
      const heard = channels.map((channel) => listen(harness.there, channel));

      harness.here.publish(channels);

      for (const one of heard) {
        await one.something();
      }
    });

    test("told in turn, each is heard", async () => {
      const heard = listen(harness.there, "run:1");

      for (let index = 1; index <= 3; index += 1) {
        const before = heard.count;
        harness.here.publish(["run:1"]);
        await waitFor(() => heard.count > before, { what: "the next news" });
      }
    });
  });
}

export function listen(pubsub: PubSub, channel: string) {
  const heard = { count: 0, unsubscribe: () => {}, something: async () => {} };
  heard.unsubscribe = pubsub.subscribe(channel, () => {
    heard.count += 1;
  });
  heard.something = async () => {
    await waitFor(() => heard.count > 0, { what: `news of ${channel}`, everyMs: 2 });
  };
  return heard;
}
