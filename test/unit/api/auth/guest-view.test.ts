import { expect, test } from "vitest";
import { itemForGuest } from "../../../../src/api/auth/guest-view.ts";
import type { RunItem } from "../../../../src/api/schemas/run-item.ts";

const ITEM = {
  run_id: "r",
  state: "FAILED",
  started_at: null,
  creator: { uid: "u", type: "user", display_name: "Ada", email: "canary@example.com" },
  agent_config: { name: "n", harness: { type: "demo" }, base_prompt: "canary", skills: ["canary"] },
  status_message: { message: "canary", error_code: "budget_exceeded", retryable: false, reason: "canary" },
  metadata: { a: "canary" },
  request_usage: { inference_cost_usd: 1 },
};

test("guests see the members that are named for them, and of these only the harmless parts", () => {
  expect(itemForGuest(ITEM as unknown as RunItem)).toEqual({
    run_id: "r",
    state: "FAILED",
    started_at: null,
    creator: { uid: "u", type: "user", display_name: "Ada" },
    agent_config: { name: "n", harness: { type: "demo" } },
    status_message: { message: "Budget exceeded", error_code: "budget_exceeded", retryable: false },
  });
});

test.each(["brand_new", "toString", "__proto__"])("guests do not see the new member %s of a run", (name) => {
  const item = JSON.parse(`{"run_id":"r","${name}":"canary"}`);

  expect(itemForGuest(item)).toEqual({ run_id: "r" });
});
