import { describe, expect, test } from "vitest";
import { waitFor } from "../../../../test/support/wait-for.ts";
import { WebhookVerificationError } from "../../src/index.ts";
import type { ResourcesFixture } from "./resources-fixture.ts";

/** `whsec_` and 24 bytes in base64. */
const RUN_SECRET = "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiB3ZWJob29rcw==";

export function describeSettings(fixture: () => ResourcesFixture): void {
  describe("settings", () => {
    test("environments, schedules, secrets and MCP servers are created, read, changed and deleted", async () => {
      const { client } = fixture();
      const config = { name: "site", setup_commands: ["true"] };
      const { uid } = await client.environments.create({ config });
      const replaced = await client.environments.replace(uid, {
        config: { ...config, description: "The site" },
      });
      expect(replaced.config).toMatchObject({ description: "The site" });
      expect((await client.environments.retrieve(uid)).uid).toBe(uid);
      expect((await client.environments.list()).environments.map((one) => one.uid)).toContain(uid);
      const test = await client.environments.test(uid);
      expect((await client.runs.waitForCompletion(test.run_id)).state).toBe("SUCCEEDED");
      await client.environments.delete(uid);

      const times = { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "say night" };
      const { id } = await client.schedules.create(times);
      expect((await client.schedules.pause(id)).enabled).toBe(false);
      expect((await client.schedules.resume(id)).enabled).toBe(true);
      expect((await client.schedules.replace(id, { ...times, name: "Late", enabled: true })).name).toBe(
        "Late",
      );
      expect((await client.schedules.retrieve(id)).name).toBe("Late");
      expect((await client.schedules.list()).schedules.map((one) => one.id)).toEqual([id]);
      await client.schedules.delete(id);

      await client.secrets.put("NPM_TOKEN", { value: "npm-secret-value" });
      expect(JSON.stringify(await client.secrets.retrieve("NPM_TOKEN"))).not.toContain("npm-secret-value");
      expect((await client.secrets.list()).secrets.map(({ name }) => name)).toEqual(["NPM_TOKEN"]);
      await client.secrets.delete("NPM_TOKEN");

      const wiki = { name: "Wiki", config: { url: "https://wiki.example.com/mcp" } };
      const server = await client.mcpServers.create(wiki);
      await client.mcpServers.replace(server.uid, { ...wiki, description: "Searches" });
      expect((await client.mcpServers.retrieve(server.uid)).description).toBe("Searches");
      expect((await client.mcpServers.list()).mcp_servers).toHaveLength(1);
      await client.mcpServers.delete(server.uid);
    });

    test("a failed run says until when it is kept, and that an agent can look into its setup", async () => {
      const { client } = fixture();
      const config = { name: "broken", setup_commands: ["exit 3"], failure_session_retention_minutes: 1 };
      const { uid } = await client.environments.create({ config });
      const { run_id } = await client.runs.create({ prompt: "say hi", config: { environment_id: uid } });

      const failed = await client.runs.waitForCompletion(run_id);

      expect((await client.environments.retrieve(uid)).config.failure_session_retention_minutes).toBe(1);
      expect(failed.debug_agent_available).toBe(true);
      expect(Date.parse(failed.status_message?.session_debug_until ?? "")).toBeGreaterThan(Date.now());
      await client.runs.cancel(run_id);
      await client.environments.delete(uid);
    });

    test("policies and routing rules are created, read, changed, evaluated and deleted", async () => {
      const { client } = fixture();
      const rule = { name: "No production", effect: "deny" as const, match: { environments: ["x"] } };
      const policy = await client.policies.create(rule);
      await client.policies.replace(policy.id, { ...rule, reason: "Ask the platform team." });
      expect((await client.policies.retrieve(policy.id)).reason).toBe("Ask the platform team.");
      const { policies } = await client.policies.list();
      const paged: (typeof policies)[number][] = [];
      for await (const one of client.policies.list({ query: { limit: 1 } })) {
        paged.push(one);
      }
      expect(policies.some(({ id }) => id === policy.id)).toBe(true);
      expect(paged).toEqual(policies);
      expect(await client.policies.evaluate({ action: "create", environment_id: "x" })).toMatchObject({
        effect: "deny",
      });
      await client.policies.delete(policy.id);

      const shop = { name: "Shop", match: { text: ["cart"] }, config: { base_prompt: "Be brief." } };
      const routing = await client.routingRules.create(shop);
      await client.routingRules.replace(routing.id, { ...shop, priority: 7 });
      expect((await client.routingRules.retrieve(routing.id)).priority).toBe(7);
      expect((await client.routingRules.list()).routing_rules).toHaveLength(1);
      const result = await client.routingRules.evaluate({ text: "Fix the cart", source: "SLACK" });
      expect(JSON.stringify(result)).toContain(routing.id);
      await client.routingRules.delete(routing.id);
    });

    test("webhooks are created, tested, changed and deleted, and their messages are verified", async () => {
      const { client, receiver } = fixture();
      const { id, secret: first } = await client.webhooks.create({ url: receiver.url });
      const { secret } = await client.webhooks.rotateSecret(id, { overlap_seconds: 0 });
      expect(first).not.toBe(secret);
      const { run_id } = await client.runs.create({ prompt: "say hello" });
      await client.runs.waitForCompletion(run_id);
      // Runs of earlier tests may end meanwhile.
      const isOurs = ({ body }: { readonly body: string }) =>
        body.includes("run.succeeded") && body.includes(run_id);
      await waitFor(async () => receiver.posts.some(isOurs), { what: "a post" });
      const post = receiver.posts.find(isOurs);
      const { body = "", headers = {} } = post ?? {};

      const message = await client.webhooks.unwrap({ body, headers, secret });
      expect(message).toMatchObject({ type: "run.succeeded", data: { run_id, state: "SUCCEEDED" } });
      const forged = [
        { body: body.replace("SUCCEEDED", "FAILED"), headers, secret },
        { body, headers, secret: first },
        { body, headers, secret: "not a secret" },
        { body, headers: { ...headers, "webhook-timestamp": "1" }, secret },
        { body, headers: { ...headers, "webhook-timestamp": "now" }, secret },
        { body, headers: { ...headers, "webhook-signature": "v1,%%% v2,x" }, secret },
        { body, headers: new Headers(), secret },
      ];
      for (const received of forged) {
        await expect(client.webhooks.unwrap(received)).rejects.toBeInstanceOf(WebhookVerificationError);
      }

      const { deliveries } = await client.webhooks.deliveries(id, { limit: 1 });
      const [delivery] = deliveries;
      // The post arrives before the server stores the answer to it.
      await waitFor(async () => (await client.webhooks.delivery(id, delivery?.id ?? "")).history.length > 0, {
        what: "the stored answer to the post",
      });
      expect((await client.webhooks.replay(id, delivery?.id ?? "")).id).toBe(delivery?.id);
      expect(await client.webhooks.replayMany(id, { since: "2026-03-01T09:00:00Z" })).toEqual({ count: 0 });
      expect((await client.webhooks.test(id)).type).toBe("webhook.test");
      expect((await client.webhooks.update(id, { enabled: false })).enabled).toBe(false);
      expect((await client.webhooks.retrieve(id)).url).toBe(receiver.url);
      expect((await client.webhooks.list()).webhooks.map((one) => one.id)).toEqual([id]);
      await client.webhooks.delete(id);
    });

    test("the webhook of one run has deliveries that can be sent again", async () => {
      const { client, receiver } = fixture();
      const { run_id } = await client.runs.create({
        prompt: "say x",
        webhook: { url: receiver.url, secret: RUN_SECRET },
      });
      await client.runs.waitForCompletion(run_id);

      // A delivery is stored after the run has its state.
      const delivery = await waitFor(
        async () => (await client.runs.webhookDeliveries(run_id)).deliveries[0],
        { what: "a delivery" },
      );
      const replayed = await client.runs.replayWebhookDelivery(run_id, delivery.id);

      expect(replayed.id).toBe(delivery.id);
    });
  });
}
