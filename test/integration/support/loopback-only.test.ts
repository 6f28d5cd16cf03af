import { expect, test } from "vitest";
import { loopbackOnlyFetch } from "../../support/loopback-only.ts";
import { startRecordingEndpoint } from "../../support/recording-endpoint.ts";

test.each([
  "https://hooks.slack.com/actions/T1/1/x",
  "https://api.github.com/app",
  "http://127.0.0.1.example.com/",
  "http://10.0.0.1/",
])("a connection to %s is refused by the test setup", async (address) => {
  await expect(loopbackOnlyFetch(address)).rejects.toThrow("only loopback");
});

test("loopback is reached, by text, URL and Request", async () => {
  const endpoint = await startRecordingEndpoint();

  for (const input of [endpoint.url, new URL(endpoint.url), new Request(endpoint.url)]) {
    expect((await loopbackOnlyFetch(input)).status).toBe(200);
  }

  await endpoint.stop();
});
