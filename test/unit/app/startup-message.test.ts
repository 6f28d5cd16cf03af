import { expect, test } from "vitest";
import type { App } from "../../../src/app/start.ts";
import { startupMessage } from "../../../src/app/startup-message.ts";
import { readConfig } from "../../../src/config/config.ts";
import { SILENT_LOG } from "../../support/logs.ts";

const COMPATIBLE = { OPENAI_BASE_URL: "http://127.0.0.1:11434/v1" };

test.each([
  ["a compatible server without a model", "opencode", COMPATIBLE, true],
  ["a compatible server with a model", "opencode", { ...COMPATIBLE, ERRAND_MODEL: "qwen3" }, false],
  ["no server", "demo", {}, false],
])("the start asks for ERRAND_MODEL if there is %s (agent %s)", (_what, agentName, environment, isAsked) => {
  const message = startupMessage(anApp(agentName), readConfig(environment));

  expect(message.includes("ERRAND_MODEL is not set")).toBe(isAsked);
});

function anApp(agentName: string): App {
  const stop = async () => undefined;
  return {
    url: "http://here",
    agentName,
    sandboxName: "docker",
    sandboxProblem: undefined,
    pagesProblem: undefined,
    keyFile: undefined,
    log: SILENT_LOG,
    stop,
  };
}
