import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { News } from "../../src/core/ports/news.ts";
import { waitFor } from "../support/wait-for.ts";

export interface NewsBench {
  /** Two processes; where there is only one, both are it. */
  readonly here: News;
  readonly there: News;
  close(): Promise<void>;
}

/** What every news promises. */
export function describeNews(name: string, open: () => Promise<NewsBench>): void {
  describe(`the ${name} news`, () => {
    let bench: NewsBench;
    beforeEach(async () => {
      bench = await open();
    });
    afterEach(() => bench.close());

    it.each(["here", "there"] as const)("are heard %s", async (place) => {
      const heard = listen(bench[place], "run:1");

      bench.here.tell(["run:0", "run:1"]);

      await heard.something();
    });

    it("are not heard by listeners of other topics", async () => {
      const other = listen(bench.there, "run:2");
      const heard = listen(bench.there, "run:1");

      bench.here.tell(["run:1"]);

      await heard.something();
      expect(other.count).toBe(0);
    });

    it("reach every listener of a topic, until it listens no more", async () => {
      const [gone, first, second] = [0, 1, 2].map(() => listen(bench.there, "run:1"));
      gone?.unsubscribe();

      bench.here.tell(["run:1"]);

      await first?.something();
      await second?.something();
      expect(gone?.count).toBe(0);
    });

    it("a listener may stop listening while it is told, and another may begin", async () => {
      const heard = listen(bench.there, "run:1");
      const late: (() => void)[] = [];
      const unsubscribe = bench.there.on("run:1", () => {
        unsubscribe();
        late.push(bench.there.on("run:1", () => undefined));
      });

      bench.here.tell(["run:1"]);

      await heard.something();
      for (const stop of late) stop();
    });

    it("several at once go out as one", async () => {
      const heard = listen(bench.there, "run:1");
      const last = listen(bench.there, "last");

      for (let index = 0; index < 500; index += 1) bench.here.tell(["run:1"]);
      bench.here.tell(["last"]);

      await last.something();
      expect(heard.count).toBeGreaterThan(0);
      expect(heard.count).toBeLessThan(10);
    });

    it("are heard once where they were told", async () => {
      const heard = listen(bench.here, "run:1");
      const [there, back] = [listen(bench.there, "run:1"), listen(bench.here, "back")];
      bench.here.tell(["run:1"]);
      await there.something();

      // It comes by the same way as an echo would, and behind it.
      bench.there.tell(["back"]);

      await back.something();
      expect(heard.count).toBe(1);
    });

    it("any number of topics goes through", async () => {
      const topics = Array.from({ length: 1_000 }, () => `run:${randomUUID()}`);
      const heard = topics.map((topic) => listen(bench.there, topic));

      bench.here.tell(topics);

      for (const one of heard) await one.something();
    });

    it("told in turn, each is heard", async () => {
      const heard = listen(bench.there, "run:1");

      for (let index = 1; index <= 3; index += 1) {
        const before = heard.count;
        bench.here.tell(["run:1"]);
        await waitFor(() => heard.count > before, { what: "the next news" });
      }
    });
  });
}

export function listen(news: News, topic: string) {
  const heard = { count: 0, unsubscribe: () => {}, something: async () => {} };
  heard.unsubscribe = news.on(topic, () => {
    heard.count += 1;
  });
  heard.something = async () => {
    await waitFor(() => heard.count > 0, { what: `news of ${topic}`, everyMs: 2 });
  };
  return heard;
}
