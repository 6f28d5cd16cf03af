import { expect, test } from "vitest";
import { slackSignIn } from "../../../../src/adapters/slack/sign-in.ts";
import { Workspaces } from "../../../../src/adapters/slack/workspaces.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

test.each([
  ["https://slack.com/api/", "https://slack.com/api/openid.connect.token"],
  ["https://slack.com/api", "https://slack.com/api/openid.connect.token"],
  ["https://slack-gov.com/api", "https://slack-gov.com/api/openid.connect.token"],
])("with the API %s, codes are exchanged at %s", async (apiUrl, address) => {
  const oauth = { clientId: "1.2", clientSecret: "shh" };
  const asked: string[] = [];
  const fetch = async (url: string | URL) => {
    asked.push(String(url));
    return Response.json({ ok: false, error: "invalid_code" });
  };
  const provider = slackSignIn(
    { apiUrl, oauth },
    { workspaces: new Workspaces({ apiUrl }, { clock: new ManualClock(), fetch }), fetch },
  );
  const redirectUri = "https://errand.test/back";
  const attempt = { redirectUri, state: "s", nonce: "n", verifier: "v" };

  await expect(provider.prove(new URL(`${redirectUri}?state=s&code=c`), attempt)).rejects.toThrow(
    "Slack did not exchange the code of this sign-in.",
  );

  expect(asked).toEqual([address]);
});
