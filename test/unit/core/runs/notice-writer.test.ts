import { expect, test } from "vitest";
import type { ExecutedConfig } from "../../../../src/core/model/runs/executed-config.ts";
import { NoticeWriter } from "../../../../src/core/runs/notice-writer.ts";
import { aFollowUp, anApproval, aRun } from "../../../support/run-builders.ts";

const writer = new NoticeWriter(() => "https://errand.example.com", new Map());
const NOW = new Date("2026-03-01T12:00:00Z");
const QUESTION = {
  permissionId: "p1",
  title: "Delete it?",
  options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
} as const;

test("a card that shows the question does not repeat what the run waits for", () => {
  const statusMessage = { message: "The agent asks: Delete it?" };

  const asking = writer.card(
    aRun({ state: "BLOCKED", permission: { ...QUESTION, askedAt: NOW }, statusMessage }),
    NOW,
  );
  const waiting = writer.card(
    aRun({ state: "BLOCKED", statusMessage: { message: "Waits for approval." } }),
    NOW,
  );

  expect([asking.question, asking.message]).toEqual([{ ...QUESTION, text: "Delete it?" }, undefined]);
  expect([waiting.question, waiting.message]).toEqual([undefined, "Waits for approval."]);
});

test("a card says what happened and what a person can do about it", () => {
  const statusMessage = { message: "The agent ended.", remedy: "Send a follow-up." };

  const card = writer.card(aRun({ state: "ERROR", statusMessage }), NOW);

  expect(card.message).toBe("The agent ended.\nSend a follow-up.");
});

test("a card shows the words that wait for approval, and a decision needs all of them", () => {
  const approval = anApproval();
  const long = anApproval({ inputs: [{ text: "x".repeat(10_000), attachments: [] }] });

  const [shown, cut] = [approval, long].map((each) =>
    writer.card(aRun({ state: "BLOCKED", approval: each }), NOW),
  );

  const { inputsHash } = approval;
  expect(shown?.approval).toEqual({ isFollowUp: false, text: "Fix the parser, please", inputsHash });
  expect(cut?.approval?.text?.length).toBeLessThan(3_000);
  expect(cut?.approval).not.toHaveProperty("inputsHash");
});

const EXECUTES: ExecutedConfig = {
  agent: "codex",
  permissionPolicy: "allow",
  repositories: [{ repository: "acme/api", ref: "main" }],
  setupCommands: ["npm ci", "npm run build"],
  network: "none",
  mcpServers: { wiki: { command: "wiki-mcp" } },
  secretNames: ["TOKEN"],
  skills: [],
};

test("a card shows what will be executed beside the words, and what is not covered", () => {
  const approval = anApproval({ executes: EXECUTES });
  const { text, inputsHash } = writer.card(aRun({ state: "BLOCKED", approval }), NOW).approval ?? {};

  for (const part of [
    "Fix the parser",
    "codex",
    "acme/api at main",
    "npm run build",
    "wiki: wiki-mcp",
    "TOKEN",
  ]) {
    expect(text).toContain(part);
  }
  expect(text).toMatch(/Not covered: .*repositories.*image.*secrets/);
  expect(inputsHash).toBe(approval.inputsHash);
});

test("where people outside of the team read, a card shows the words, and names the rest that is approved with them", () => {
  const around = { text: "a secret of the thread", attachments: [] };
  const approval = anApproval({ executes: EXECUTES });
  const { inputs } = approval;
  const waits = { ...approval, inputs: [...inputs, around] };
  const card = writer.card(aRun({ state: "BLOCKED", approval: waits }), NOW, [], true).approval;

  expect(card?.text).toMatch(
    /Fix the parser[\s\S]*codex[\s\S]*acme\/api[\s\S]*2 setup commands[\s\S]*1 MCP server[\s\S]*1 secret/,
  );
  expect(card?.text).toContain("And the text around it: 22 characters.");
  expect(card?.text).not.toMatch(/npm|wiki|TOKEN|a secret of/);
  expect(card?.inputsHash).toBe(approval.inputsHash);
});

test.each(["Fix\u200b it", "Fix it\u{e0072}\u{e006d}", "\u202eti xiF"])(
  "the hidden characters of %j are shown, and nobody approves the words with one click",
  (hidden) => {
    const approval = anApproval({ inputs: [{ text: hidden, attachments: [] }] });
    const command = anApproval({ executes: { ...EXECUTES, setupCommands: [hidden] } });

    for (const each of [approval, command]) {
      const card = writer.card(aRun({ state: "BLOCKED", title: hidden, approval: each }), NOW);
      expect(card.approval?.text).toMatch(/⟨U\+/);
      expect(card.title).toMatch(/⟨U\+/);
      expect(card.approval).not.toHaveProperty("inputsHash");
    }
  },
);

test("a card does not show a private follow-up that waits for approval", () => {
  const run = aRun({ state: "INPROGRESS" });
  const followUp = { ...aFollowUp(run, { private: true }), seq: 1 };
  const approval = anApproval({ inputs: [{ followUpId: followUp.id, text: "secret", attachments: [] }] });

  expect(writer.card(run, NOW, [{ ...followUp, approval }]).approval).toEqual({ isFollowUp: true });
});

test("a card shows what the run works in and why, its plan, its cost, its pull request and its time", () => {
  const run = aRun({
    state: "INPROGRESS",
    config: { environment_id: "e1", repository: "acme/api" },
    provenance: {
      environment: { name: "Web", repositories: ["acme/web", "acme/api"] },
      config_layers: { environment_id: "routing_rule" },
      routing: { rule: "Team web" },
    },
    activity: {
      since: new Date("2026-03-01T11:58:30Z"),
      plan: [{ text: "Read", status: "completed" }],
      step: "npm test",
    },
    pullRequest: "https://git.example/acme/api/pull/1",
    pullRequestStatus: {
      url: "https://git.example/acme/api/pull/1",
      state: "open",
      checks: [
        { name: "unit", state: "passed" },
        { name: "docs", state: "skipped" },
      ],
    },
    costUsd: 0.5,
  });

  expect(writer.card(run, NOW)).toMatchObject({
    workspace: {
      environment: "Web",
      repositories: ["acme/api", "acme/web"],
      reason: "the routing rule “Team web”",
    },
    plan: [{ text: "Read", status: "completed" }],
    step: "npm test",
    elapsedSeconds: 90,
    pullRequest: "https://git.example/acme/api/pull/1",
    pullRequestStatus: { state: "open", checks: { total: 1, passed: 1, failed: 0 } },
    costUsd: 0.5,
  });
});

test("a card of a run in an empty workspace says so, and its time stands still at the end", () => {
  const endedAt = new Date("2026-03-01T11:59:00Z");
  const activity = { since: new Date("2026-03-01T11:58:30Z") };

  const card = writer.card(aRun({ state: "SUCCEEDED", endedAt, activity, config: {}, provenance: {} }), NOW);

  expect(card.workspace).toEqual({ repositories: [] });
  expect(card.elapsedSeconds).toBe(30);
});
