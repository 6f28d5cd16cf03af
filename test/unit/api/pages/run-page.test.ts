import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageDocument, type PageElement } from "./page-document.ts";

type Listener = (event: { data: string }) => void;

/** The event stream as the page sees it. */
class FakeEventSource {
  static readonly CLOSED = 2;
  static opened: FakeEventSource[] = [];
  readonly url: string;
  readyState = 1;
  readonly #listeners = new Map<string, Listener>();

  constructor(url: string) {
    this.url = url;
    FakeEventSource.opened.push(this);
  }

  addEventListener(name: string, listener: Listener): void {
    this.#listeners.set(name, listener);
  }

  send(seq: number, kind: string, members: object): void {
    const data = JSON.stringify({ seq, turn: 1, at: "2026-01-01T00:00:00Z", kind, ...members });
    this.#listeners.get(kind)?.({ data });
  }

  fail(): void {
    this.readyState = FakeEventSource.CLOSED;
    this.#listeners.get("error")?.({ data: "" });
  }
}

const RUN = {
  title: "<b>T</b>",
  prompt: "p",
  source: "API",
  state: "QUEUED",
  created_at: "2026-01-01T00:00:00Z",
  agent: { name: "demo" },
};

let page: PageDocument;
let left: string[];
let status: number;
let wait: (() => void) | undefined;

beforeEach(() => {
  page = new PageDocument();
  page.getElementById("run").dataset.runId = "R";
  [left, status, wait, FakeEventSource.opened] = [[], 200, undefined, []];
  vi.stubGlobal("document", page);
  vi.stubGlobal("EventSource", FakeEventSource);
  vi.stubGlobal("innerHeight", 0);
  vi.stubGlobal("scrollY", 0);
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => draw());
  vi.stubGlobal("setTimeout", (later: () => void) => {
    wait = later;
  });
  vi.stubGlobal("location", { pathname: "/runs/R", assign: (path: string) => left.push(path) });
  vi.stubGlobal("fetch", async () => Response.json(status === 200 ? RUN : { error: "No." }, { status }));
});
afterEach(() => vi.unstubAllGlobals());

let loads = 0;
async function openPage(): Promise<FakeEventSource> {
  loads += 1;
  const script = new URL(`../../../../src/api/pages/assets/run-page.js?load=${loads}`, import.meta.url);
  await import(/* @vite-ignore */ script.href);
  const source = FakeEventSource.opened[0];
  if (source === undefined) {
    throw new Error("The page opened no stream.");
  }
  return source;
}

function log(): PageElement[] {
  return page.getElementById("log").children;
}

test("the page shows the run and reads its events from the beginning", async () => {
  const source = await openPage();

  expect(page.getElementById("title").textContent).toBe("<b>T</b>");
  expect(page.getElementById("state").dataset.state).toBe("QUEUED");
  expect(page.getElementById("facts").textContent).toMatch(/^API · demo · /);
  expect(source.url).toBe("/api/v1/agent/runs/R/events?follow=true&after=0");
});

test("parts of a message become one entry, and so do updates of a tool call", async () => {
  const source = await openPage();

  source.send(1, "agent.message", { text: "Hel" });
  source.send(2, "agent.message", { text: "lo <script>" });
  source.send(3, "agent.tool_call", { tool_call_id: "t", title: "Write a", status: "pending" });
  source.send(3, "agent.tool_call", { tool_call_id: "t", title: "seen before" });
  source.send(4, "agent.tool_call", {
    tool_call_id: "t",
    status: "completed",
    content: [{ type: "diff", path: "a", old_text: "1\n2\n", new_text: "1\n3\n" }],
  });

  expect(log().map(({ className }) => className)).toEqual(["message", "tool"]);
  expect(log()[0]?.textContent).toBe("Hello <script>");
  expect(log()[1]?.textContent).toBe("✓ Write a (completed)a 1\n-2\n+3\n");
});

test("the page shows each kind of event", async () => {
  const source = await openPage();
  const options = [{ option_id: "y", name: "Yes", kind: "allow_once" }];

  source.send(1, "agent.started", { agent: "demo", version: "1" });
  source.send(2, "agent.thought", { text: "hm" });
  source.send(3, "agent.plan", {
    entries: [
      { content: "one", status: "completed" },
      { content: "two", status: "pending" },
    ],
  });
  source.send(4, "agent.usage", { used: 5, size: 10, cost_usd: 0.5 });
  source.send(5, "permission.requested", { request: { permission_id: "p", title: "May I?", options } });
  source.send(6, "permission.answered", { permission_id: "p", option_id: "y" });
  source.send(7, "followup.received", { followup_id: "f", message: "more" });
  source.send(8, "turn.ended", { stop_reason: "refusal", answer: "" });
  source.send(9, "run.state", {
    from: "INPROGRESS",
    to: "FAILED",
    status: { message: "Refused.", error_code: "invalid_request" },
  });
  source.send(10, "approval.requested", { policyId: "p", reason: "It costs." });

  expect(log().map(({ textContent }) => textContent)).toEqual([
    "Agent: demo 1",
    "Thoughthm",
    "Plan☑ one☐ two",
    "Context: 5 of 10 tokens · $0.5000",
    "Was askedMay I?Answer: Yes",
    "Follow-upmore",
    "The turn ended: refusal",
    "INPROGRESS → FAILED: Refused. (invalid_request)",
    "Waits for approval: It costs.",
  ]);
  expect(page.getElementById("state").textContent).toBe("FAILED");
  expect([page.getElementById("problem").hidden, page.getElementById("problem").textContent]).toEqual([
    false,
    "Refused.",
  ]);
});

test("a refused stream is opened again behind the last event", async () => {
  const source = await openPage();
  source.send(1, "run.created", { state: "QUEUED" });
  source.send(2, "agent.message", { text: "a" });

  source.fail();
  wait?.();
  await vi.waitFor(() => expect(FakeEventSource.opened).toHaveLength(2), { interval: 1 });

  expect(FakeEventSource.opened[1]?.url).toBe("/api/v1/agent/runs/R/events?follow=true&after=2");
});

test("a signed-out reader is redirected to sign in and returns to the page", async () => {
  status = 401;

  await openPage();

  expect(left).toEqual(["/signin?next=%2Fruns%2FR"]);
});

test("the page of a guest who may edit sends follow-ups, and any other page has no form", async () => {
  const sent: [string, string][] = [];
  const form = page.getElementById("follow-up");
  await openPage();
  const ofMember = form.hidden;
  form.dataset.allowed = "true";
  FakeEventSource.opened = [];
  await openPage();
  vi.stubGlobal("fetch", async (path: string, { body }: { body: string }) => {
    sent.push([path, body]);
    return Response.json({ state: "QUEUED" });
  });
  page.getElementById("message").value = "Go on.";

  await form.dispatch("submit");

  expect([ofMember, form.hidden]).toEqual([true, false]);
  expect(sent).toEqual([["/api/v1/agent/runs/R/followups", '{"message":"Go on."}']]);
  expect([page.getElementById("message").value, page.getElementById("sent").textContent]).toEqual([
    "",
    "Sent.",
  ]);
});
