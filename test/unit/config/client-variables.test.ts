import { expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";

const KEY = "the key of an administrator".replaceAll(" ", "-");
const CLIENT_KEY = "the-key-of-a-client";

test.each([
  ["its own variable", { ERRAND_ADMIN_KEY: KEY }, KEY],
  ["the former variable alone", { ERRAND_API_KEY: KEY }, KEY],
  ["no variable", {}, undefined],
  ["both variables", { ERRAND_ADMIN_KEY: KEY, ERRAND_API_KEY: CLIENT_KEY }, KEY],
  [
    "the former variable beside ERRAND_URL",
    { ERRAND_API_KEY: CLIENT_KEY, ERRAND_URL: "http://x" },
    undefined,
  ],
  [
    "the former variable beside ERRAND_CONTEXT",
    { ERRAND_API_KEY: CLIENT_KEY, ERRAND_CONTEXT: "x" },
    undefined,
  ],
])("the administrator's key is taken from %s", (_what, environment, key) => {
  const { apiKey, notes } = readConfig(environment);

  expect(apiKey).toBe(key);
  const isFormerName = apiKey !== undefined && !("ERRAND_ADMIN_KEY" in environment);
  expect(notes).toEqual(isFormerName ? [expect.stringContaining("Rename it to ERRAND_ADMIN_KEY")] : []);
});

test("the variables of the clients do not stop the server, and the key of a client is redacted", () => {
  const { secrets } = readConfig({
    ERRAND_URL: "not an address",
    ERRAND_CONTEXT: "work",
    ERRAND_CONFIG_DIR: "/somewhere",
    ERRAND_LOG: "debug",
    ERRAND_WEBHOOK_SECRET: "whsec_of-a-receiver",
    ERRAND_API_KEY: CLIENT_KEY,
  });

  expect(secrets).toEqual(expect.arrayContaining([CLIENT_KEY, "whsec_of-a-receiver"]));
});

test.each(["sixteen letters ä", "a space at its end ", "line\nbreak-of-a-key"])(
  "the key %j, which no client can send, stops the start",
  (key) => {
    expect(() => readConfig({ ERRAND_ADMIN_KEY: key })).toThrow(
      "ERRAND_ADMIN_KEY: must have at least 16 characters, only ASCII letters, digits and signs",
    );
  },
);
