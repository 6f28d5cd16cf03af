import { expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";

test.each([
  ["ERRAND_SANDBX", "ERRAND_SANDBX is unknown. Did you mean ERRAND_SANDBOX?"],
  ["ERRAND_PUBLICURL", "ERRAND_PUBLICURL is unknown. Did you mean ERRAND_PUBLIC_URL?"],
  ["ERRAND_SOMETHING_ELSE", "ERRAND_SOMETHING_ELSE is unknown. docs/configuration.md lists all variables."],
])("the unknown variable %s stops the start with the nearest known name", (name, message) => {
  expect(() => readConfig({ [name]: "1" })).toThrow(message);
});

test("all unknown variables are reported at once, together with other problems", () => {
  expect(() => readConfig({ ERRAND_PROT: "1", ERRAND_ROLL: "api", ERRAND_PORT: "x" })).toThrow(
    /^ERRAND_PORT: .*\nERRAND_PROT is unknown\. Did you mean ERRAND_PORT\?\nERRAND_ROLL is unknown\. Did you mean ERRAND_ROLE\?$/,
  );
});

test("an empty variable, variables of other programs, and those that Errand sets for agents are accepted", () => {
  const env = {
    ERRAND_SANDBX: "",
    ERRANDS: "1",
    ERRAND_SANDBOX_ID: "x",
    ERRAND_PATH: "x",
    ERRAND_HELD_BACK_PATH: "x",
  };

  expect(() => readConfig(env)).not.toThrow();
});
