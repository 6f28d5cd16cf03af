import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { asRecord } from "../support/json.ts";
import { waitFor } from "../support/wait-for.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";
import { SlackThread } from "./slack-thread.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

const PUBLIC_URL = "https://errand.localhost";
const WITHOUT_SLACK = { SLACK_BOT_TOKEN: "", SLACK_SIGNING_SECRET: "" };

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.open({ ERRAND_PUBLIC_URL: PUBLIC_URL, ...WITHOUT_SLACK });
}, TEST_LIMIT_MS);
afterAll(async () => {
  await fixture.close();
});

/** The click that stays: our page, Slack's page, and back. */
async function install(): Promise<void> {
  const { service, slack } = fixture;
  const body = JSON.stringify({ key: service.apiKey });
  const headers = { "content-type": "application/json" };
  const signedIn = await fetch(`${service.url}/signin`, { method: "POST", headers, body });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const visit = (address: string) => fetch(address, { headers: { cookie }, redirect: "manual" });
  slack.oauth.codes.next = { workspace: slack.workspace };
  const begun = await visit(`${service.url}/setup/slack/install`);
  const agreed = await visit(begun.headers.get("location") ?? expect.fail(await begun.text()));
  const back = agreed.headers.get("location") ?? expect.fail(await agreed.text());
  const done = await visit(back.replace(PUBLIC_URL, service.url));
  expect(await done.text()).toContain("is connected with your team");
}

test("an app that a configuration token created is installed with one click, and answers", async () => {
  const { api, service, slack } = fixture;
  const { refreshToken: refresh_token, token } = slack.manifests.tokens;
  const starts = () => service.output().split('"app.started"').length - 1;

  const created = await api.call("PUT", "/agent/installations/guides/slack/app", { token, refresh_token });

  expect(asRecord(created.body)).toMatchObject({ change: "created", needs_install: true });
  await waitFor(() => starts() === 2, { what: "the restart", timeoutMs: WAIT_LIMIT_MS });
  await install();
  const thread = await SlackThread.open(fixture, "say hello", ["appMention", "message"]);
  expect(await thread.untilAnswers(1)).toEqual([expect.stringMatching(/\bhello$/)]);
  const doctor = JSON.stringify((await api.call("GET", "/agent/doctor")).body);
  expect(doctor).toContain("The app has the manifest of this version.");
  expect(doctor + service.output()).not.toContain(token);

  // A token that is replaced restarts nothing.
  slack.manifests.expire();
  const again = await api.call("PUT", "/agent/installations/guides/slack/app", {});
  expect(asRecord(again.body)).toMatchObject({ change: "unchanged" });
  await fixture.checkInvariants();
  expect(service.output().split('"adapters.changed"')).toHaveLength(2);
});
