import { expect, test } from "vitest";
import { composeAgents, findAgentProblem } from "../../../src/app/compose-agents.ts";
import type { App } from "../../../src/app/start.ts";
import { startupMessage } from "../../../src/app/startup-message.ts";
import { readConfig } from "../../../src/config/config.ts";
import { SILENT_LOG } from "../../support/logs.ts";

test("the start says which model runs without one use", () => {
  const modelNote = "Runs that name no model use qwen3.";

  expect(startupMessage({ ...anApp("opencode"), modelNote }, readConfig({}))).toContain(`${modelNote}\n`);
  expect(startupMessage(anApp("opencode"), readConfig({}))).not.toContain("model");
});

test("the start of a server of its own machine names a command of the command line, and elsewhere one of curl", () => {
  const app = { ...anApp("demo"), keyFile: "/data/api-key" };
  const own = startupMessage(app, readConfig({}));
  const shared = startupMessage(
    app,
    readConfig({ DATABASE_URL: "postgres://here/errand", ERRAND_SECRET_KEY: "x".repeat(40) }),
  );

  expect(own).toContain('\nnpx errand run "Look around and write a report" --no-repo --follow\n');
  expect(own).not.toContain("curl");
  expect(shared).toContain("\ncurl -s http://here/api/v1/agent/runs ");
});

test.each([
  [{ ERRAND_AGENT: "claude" }, /^Runs of claude, the agent of ERRAND_AGENT, fail\. .*ANTHROPIC_API_KEY/],
  [{ ERRAND_AGENT: "codex" }, /^Runs of codex, .*OPENAI_API_KEY/],
  [{ ERRAND_AGENT: "claude", ANTHROPIC_API_KEY: "x".repeat(20) }, undefined],
  [{}, undefined],
])("the start with %j says what the chosen agent lacks", (environment, problem) => {
  const config = readConfig(environment);

  const found = findAgentProblem(config, composeAgents(config));

  expect(found).toEqual(problem && expect.stringMatching(problem));
  expect(
    startupMessage({ ...anApp("claude"), agentProblem: found }, config).includes(`WARNING: ${found}`),
  ).toBe(problem !== undefined);
});

function anApp(agentName: string): App {
  const stop = async () => undefined;
  return {
    url: "http://here",
    agentName,
    sandboxName: "docker",
    agentProblem: undefined,
    sandboxProblem: undefined,
    pagesProblem: undefined,
    modelNote: undefined,
    keyFile: undefined,
    log: SILENT_LOG,
    stop,
  };
}
