import type { RunItem } from "@errand/client";
import { describe, expect, test } from "vitest";
import { draftOf, IN_REPOSITORY, problemsOf, requestOf } from "../../src/new-run/draft.ts";

const EMPTY = draftOf(undefined);

describe("the draft of a run", () => {
  test("an untouched draft with a prompt asks for the prompt and nothing else", () => {
    const draft = { ...EMPTY, prompt: "fix it" };

    expect(problemsOf(draft)).toEqual({});
    expect(requestOf(draft, [])).toEqual({ prompt: "fix it", interactive: true });
  });

  test("the choices of an earlier run come back as the same request", () => {
    const config = {
      repository: "acme/web",
      ref: "next",
      harness: { type: "codex" },
      model_id: "small",
      permission_policy: "ask",
      pull_request: "off",
      priority: "high",
      budget: { max_cost_usd: 0.5, max_minutes: 10, max_turns: 3 },
    };
    const earlier = { prompt: "fix it", agent_config: config } as unknown as RunItem;

    expect(requestOf(draftOf(earlier), [])).toEqual({ prompt: "fix it", interactive: true, config });
  });

  test("an environment is sent by its uid, and a repository that was typed before is left out", () => {
    const draft = { ...EMPTY, prompt: "fix it", place: "env-1", repository: "acme/web", ref: "next" };

    expect(requestOf(draft, []).config).toEqual({ environment_id: "env-1" });
  });

  test("files are sent with their names and types", () => {
    const file = { name: "a.txt", type: "text/plain", size: 1, data: "YQ==" };

    expect(requestOf({ ...EMPTY, prompt: "read it" }, [file]).attachments).toEqual([
      { file_name: "a.txt", mime_type: "text/plain", data: "YQ==" },
    ]);
  });

  test.each([
    ["a prompt of spaces", { prompt: "  " }, ["prompt"]],
    ["a repository without an owner", { place: IN_REPOSITORY, repository: "web" }, ["repository"]],
    ["a cost of 0 and words as minutes", { maxCost: "0", maxMinutes: "ten" }, ["maxCost", "maxMinutes"]],
    ["turns below 0", { maxTurns: "-1" }, ["maxTurns"]],
  ])("%s is a problem of its field", (_what, change, members) => {
    expect(Object.keys(problemsOf({ ...EMPTY, prompt: "fix it", ...change }))).toEqual(members);
  });
});
