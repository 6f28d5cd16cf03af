import { describe, expect, test } from "vitest";
import { APIUserAbortError, Errand, type LoggedEvent, type RunEvent } from "../../src/index.ts";
import { FaultyProxy } from "../faulty-proxy.ts";
import type { ResourcesFixture } from "./resources-fixture.ts";

export function describeLiveEvents(fixture: () => ResourcesFixture): void {
  describe("live events", () => {
    test("the events of a run are yielded live, each once and in order, although the connection breaks", async () => {
      const { client, service } = fixture();
      const proxy = await FaultyProxy.start(service.url);
      const throughProxy = new Errand({ baseUrl: proxy.url, apiKey: service.apiKey, random: () => 1 });
      const { run_id } = await client.runs.create({
        prompt: "say one; sleep 0.2; say two; sleep 0.2; say three",
      });

      const events: RunEvent[] = [];
      for await (const event of throughProxy.runs.events(run_id)) {
        events.push(event as RunEvent);
        if (event.kind === "turn.started" || event.kind === "turn.ended") {
          proxy.breakAll();
        }
      }

      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(events.at(-1)).toMatchObject({ kind: "run.state", to: "SUCCEEDED" });
      expect(
        proxy.seen.filter(({ headers }) => headers["last-event-id"] !== undefined).length,
      ).toBeGreaterThan(0);
      await proxy.stop();
    });

    test("listeners get the text, the tool calls, the questions and the states of a run", async () => {
      const { client } = fixture();
      const { run_id } = await client.runs.create({
        prompt: "write a.txt x; ask; say done",
        interactive: true,
      });
      const [texts, tools, states]: [string[], string[], string[]] = [[], [], []];

      const run = await client.runs
        .stream(run_id)
        .on("text", (text) => texts.push(text))
        .on("tool", ({ title, status }) => tools.push(`${title}: ${status}`))
        .on("question", ({ options, permission_id }) => {
          void client.runs.answer(run_id, permission_id, { option_id: options[0]?.option_id ?? "" });
        })
        .on("state", (state) => states.push(state))
        .finished();

      expect(run.state).toBe("SUCCEEDED");
      expect(texts.join("")).toContain("done");
      expect(tools.some((tool) => tool.endsWith(": completed"))).toBe(true);
      expect(states).toEqual(expect.arrayContaining(["CLAIMED", "INPROGRESS", "BLOCKED", "SUCCEEDED"]));
    });

    test("a stream that its caller aborts ends with an APIUserAbortError, and the run continues", async () => {
      const { client } = fixture();
      const { run_id } = await client.runs.create({ prompt: "sleep 600" });
      const stream = client.runs.stream(run_id);

      stream.on("state", () => stream.abort());

      await expect(stream.finished()).rejects.toBeInstanceOf(APIUserAbortError);
      expect((await client.runs.retrieve(run_id)).state).not.toBe("CANCELLED");
      await client.runs.cancel(run_id);
    });

    test("a page of stored events is read from either end", async () => {
      const { client, endedRun } = fixture();
      const { run_id } = await endedRun("say x");

      const last = await client.runs.storedEvents(run_id, { tail: 2 });
      const first = await client.runs.storedEvents(run_id, { after: 0, limit: 1 });

      expect(last.events).toContainEqual(expect.objectContaining({ kind: "run.state", to: "SUCCEEDED" }));
      expect(first.events[0]).toMatchObject({ kind: "run.created", seq: 1 });
    });

    test("the events of all runs are yielded live", async () => {
      const { client } = fixture();
      const stop = new AbortController();
      const { next_after } = await client.events.list({ limit: 1 });
      const seen: (LoggedEvent | { readonly kind: "reset" })[] = [];
      const { run_id } = await client.runs.create({ prompt: "say x" });

      for await (const event of client.events.stream({ after: next_after }, { signal: stop.signal })) {
        seen.push(event);
        if (event.kind === "run.state" && event.run_id === run_id && event.to === "SUCCEEDED") {
          break;
        }
      }

      expect(seen.length).toBeGreaterThan(3);
    });
  });
}
