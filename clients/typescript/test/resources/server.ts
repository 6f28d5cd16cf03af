import { describe, expect, test } from "vitest";
import { ApiClient, BadRequestError, NotFoundError, Runs } from "../../src/index.ts";
import { type ResourcesFixture, UNKNOWN } from "./resources-fixture.ts";

export function describeServer(fixture: () => ResourcesFixture): void {
  describe("the server", () => {
    test("skills, models, agents, workers, usage, audit entries and the doctor's findings are read", async () => {
      const { client } = fixture();
      expect((await client.skills.list()).agents).toEqual([]);
      expect((await client.models.list()).models).toBeInstanceOf(Array);
      expect((await client.catalogue.list()).agents.map(({ name }) => name)).toContain("demo");
      const { run_id } = await client.catalogue.test("demo");
      expect((await client.runs.waitForCompletion(run_id)).state).toBe("SUCCEEDED");
      expect((await client.workers.list()).workers).toBeInstanceOf(Array);
      expect((await client.workers.egressRanges()).cidrs).toEqual([]);
      expect((await client.usage.retrieve({ group_by: ["source"] })).usage.length).toBeGreaterThan(0);
      expect((await client.doctor.retrieve()).checks.length).toBeGreaterThan(3);
      const actions = new Set<string>();
      for await (const { action } of client.audit.list({ limit: 5 })) {
        actions.add(action);
      }
      expect(actions.size).toBeGreaterThan(5);
    });

    test("threads, events of the inbox, notices and installations are listed, and unknown ones are not found", async () => {
      const { client, endedRun } = fixture();
      const { run_id } = await endedRun("say x");

      expect((await client.threads.list({ run_id })).threads).toEqual([]);
      expect((await client.inbox.list({ run_id })).events).toEqual([]);
      expect((await client.notices.list({ run_id })).notices).toEqual([]);
      expect((await client.installations.list()).installations).toEqual([]);
      expect((await client.installations.guides()).guides.map(({ title }) => title)).toEqual([
        "Slack",
        "GitHub",
      ]);
      await expect(client.threads.retrieve(UNKNOWN)).rejects.toBeInstanceOf(NotFoundError);
      await expect(client.installations.retrieve(UNKNOWN)).rejects.toBeInstanceOf(NotFoundError);
      await expect(client.threads.update(UNKNOWN, { verbosity: "quiet" })).rejects.toBeInstanceOf(
        NotFoundError,
      );
      await expect(client.inbox.retry(UNKNOWN)).rejects.toBeInstanceOf(NotFoundError);
      await expect(client.notices.retry(UNKNOWN)).rejects.toBeInstanceOf(NotFoundError);
      await expect(client.installations.applyApp("github")).rejects.toBeInstanceOf(NotFoundError);
      await expect(client.installations.removeSettings("slack")).rejects.toBeInstanceOf(NotFoundError);
      await expect(client.installations.update(UNKNOWN, { enabled: false })).rejects.toBeInstanceOf(
        NotFoundError,
      );
    });

    test("a bundle without other resources can use one of them alone", async () => {
      const { service } = fixture();
      const runs = new Runs(new ApiClient({ baseUrl: service.url, apiKey: service.apiKey }));

      await expect(runs.create({ prompt: "" })).rejects.toBeInstanceOf(BadRequestError);
    });
  });
}
