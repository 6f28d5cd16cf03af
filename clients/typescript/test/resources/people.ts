import { describe, expect, test } from "vitest";
import { Errand, NotFoundError } from "../../src/index.ts";
import { type ResourcesFixture, UNKNOWN } from "./resources-fixture.ts";

export function describePeople(fixture: () => ResourcesFixture): void {
  describe("people", () => {
    test("principals, keys, named agents, teams and identity links are created, changed and ended", async () => {
      const { client, service } = fixture();
      const person = await client.principals.create({ type: "user", display_name: "Ada" });
      expect((await client.principals.update(person.uid, { display_name: "Ada L." })).display_name).toBe(
        "Ada L.",
      );
      expect((await client.principals.retrieve(person.uid)).display_name).toBe("Ada L.");
      expect((await client.principals.list()).principals.length).toBeGreaterThan(1);

      const key = await client.keys.create({ name: "CI", scopes: ["runs:write"], principal_uid: person.uid });
      const asPerson = new Errand({ baseUrl: service.url, apiKey: key.key });
      expect((await asPerson.whoami()).principal.uid).toBe(person.uid);
      expect((await client.keys.update(key.id, { name: "Nightly" })).name).toBe("Nightly");
      const rotated = await client.keys.rotate(key.id, { overlap_seconds: 0 });
      expect((await client.keys.retrieve(rotated.id)).name).toBe("Nightly");
      expect((await client.keys.list({ principal: person.uid })).keys.map(({ id }) => id)).toContain(
        rotated.id,
      );
      await client.keys.revoke(rotated.id, { descendants: true });
      expect((await client.keys.revokeAll(person.uid)).revoked).toBeTypeOf("number");

      const link = await client.identityLinks.create({ subject: "slack:T1:U1", principal_uid: person.uid });
      expect((await client.identityLinks.list()).links.map(({ id }) => id)).toEqual([link.id]);
      await client.identityLinks.delete(link.id);
      await client.principals.disable(person.uid);
      expect((await client.principals.retrieve(person.uid)).disabled).toBe(true);

      const agent = await client.agents.create({ name: "Reviewer", prompt: "Be strict." });
      expect((await client.agents.update(agent.uid, { prompt: "Be brief." })).prompt).toBe("Be brief.");
      expect((await client.agents.retrieve(agent.uid)).name).toBe("Reviewer");
      expect((await client.agents.list()).agents.map(({ uid }) => uid)).toContain(agent.uid);
      await client.agents.delete(agent.uid);

      const team = await client.teams.create({ name: "Platform" });
      expect((await client.teams.update(team.uid, { name: "Infrastructure" })).name).toBe("Infrastructure");
      expect((await client.teams.retrieve(team.uid)).uid).toBe(team.uid);
      expect((await client.teams.list()).teams.map(({ uid }) => uid)).toContain(team.uid);
    });

    test("quotas are set for a team and listed with their use", async () => {
      const { client } = fixture();
      const { team } = await client.whoami();
      const quota = { name: "runs_per_day", scope: "key", limit: 1_000_000 } as const;

      await client.quotas.set(team.uid, { quotas: [quota] });
      const before = await client.quotas.list();
      await client.runs.create({ prompt: "say x" });
      const after = await client.quotas.list();

      expect(before.quotas).toMatchObject([quota]);
      expect(after.quotas[0]?.used).toBe((before.quotas[0]?.used ?? 0) + 1);
      expect((await client.quotas.set(team.uid, { quotas: [] })).quotas).toEqual([]);
    });

    test("sign-ins are listed, and an unknown one cannot be ended", async () => {
      const { client } = fixture();
      const { principal } = await client.whoami();

      expect((await client.signIns.list()).sign_ins).toEqual([]);
      await expect(client.signIns.end(UNKNOWN)).rejects.toBeInstanceOf(NotFoundError);
      await client.signIns.endAll(principal.uid);
    });

    test("a token that no policy trusts gives no key", async () => {
      const { client } = fixture();

      await expect(client.keys.exchange({ token: "e30.e30.e30" })).rejects.toMatchObject({
        status: 401,
        problem: { detail: "No policy trusts the issuer of this token." },
      });
    });

    test("a program gets a device code, and no key before a person allows it", async () => {
      const { client } = fixture();
      const { device_code, user_code } = await client.deviceCodes.create({ client_name: "a test" });

      expect(user_code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
      await expect(client.deviceCodes.token(device_code)).rejects.toMatchObject({
        status: 400,
        problem: { reason: "authorization_pending" },
      });
    });
  });
}
