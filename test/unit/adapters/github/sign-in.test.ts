import { expect, test } from "vitest";
import { githubSignIn } from "../../../../src/adapters/github/sign-in.ts";
import { SILENT_LOG } from "../../../support/logs.ts";

test.each([
  ["https://api.github.com", "https://github.com"],
  ["https://api.acme.ghe.com", "https://acme.ghe.com"],
  ["https://github.acme.test/api/v3", "https://github.acme.test"],
])("with the API %s, people sign in at %s", async (apiUrl, origin) => {
  const oauth = { clientId: "Iv1.abc", clientSecret: "shh" };
  const attempt = { redirectUri: "https://errand.test/back", state: "s", nonce: "n", verifier: "v" };

  const url = await githubSignIn({ apiUrl, oauth }, { log: SILENT_LOG }).authorizationUrl(attempt);

  expect(`${url.origin}${url.pathname}`).toBe(`${origin}/login/oauth/authorize`);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({ client_id: "Iv1.abc", state: "s" });
  expect(url.href).not.toContain("shh");
});
