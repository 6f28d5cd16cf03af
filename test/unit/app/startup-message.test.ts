import { expect, test } from "vitest";
import type { App } from "../../../src/app/start.ts";
import { startupMessage } from "../../../src/app/startup-message.ts";
import { readConfig } from "../../../src/config/config.ts";
import { SILENT_LOG } from "../../support/logs.ts";

test("the start says which model runs without one use", () => {
  const modelNote = "Runs that name no model use qwen3.";

  expect(startupMessage({ ...anApp("opencode"), modelNote }, readConfig({}))).toContain(`${modelNote}\n`);
  expect(startupMessage(anApp("opencode"), readConfig({}))).not.toContain("model");
});

function anApp(agentName: string): App {
  const stop = async () => undefined;
  return {
    url: "http://here",
    agentName,
    sandboxName: "docker",
    sandboxProblem: undefined,
    pagesProblem: undefined,
    modelNote: undefined,
    keyFile: undefined,
    log: SILENT_LOG,
    stop,
  };
}
