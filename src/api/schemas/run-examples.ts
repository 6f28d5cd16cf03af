/** Examples for the OpenAPI document. A test validates each against its schema. */
export const CONFIG_EXAMPLE = {
  name: "nightly-tidy",
  base_prompt: "Answer in one paragraph.",
  harness: { type: "demo" },
  idle_timeout_minutes: 10,
  permission_policy: "ask",
};

export const MCP_SERVER_EXAMPLE = { command: "npx", args: ["--yes", "@example/issue-tracker-mcp"] };

const RUN_ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";

export const RUN_REQUEST_EXAMPLE = {
  prompt: "Find out why the build is red and mend it",
  title: "Mend the build",
  config: CONFIG_EXAMPLE,
  metadata: { ticket: "OPS-17" },
};

export const RUN_RESPONSE_EXAMPLE = { run_id: RUN_ID, task_id: RUN_ID, state: "QUEUED" };

export const RUN_ITEM_EXAMPLE = {
  ...RUN_RESPONSE_EXAMPLE,
  root_run_id: RUN_ID,
  title: RUN_REQUEST_EXAMPLE.title,
  prompt: RUN_REQUEST_EXAMPLE.prompt,
  state: "SUCCEEDED",
  created_at: "2026-03-01T09:00:00.000Z",
  updated_at: "2026-03-01T09:04:31.250Z",
  started_at: "2026-03-01T09:00:00.410Z",
  finished_at: "2026-03-01T09:04:31.250Z",
  run_time: "PT270.84S",
  is_sandbox_running: false,
  source: "API",
  creator: { uid: "0195b2a0-0000-7000-8000-000000000001", type: "user", display_name: "Mira" },
  session_id: "0195b2a4-5c1f-7c2a-8e11-6b0d9f7a5c3e",
  session_link: "https://errand.example.com/sessions/0195b2a4-5c1f-7c2a-8e11-6b0d9f7a5c3e",
  conversation_id: "0195b2a4-5c1f-7d90-a4c3-2e6f8b1d0a7c",
  agent_config: CONFIG_EXAMPLE,
  metadata: RUN_REQUEST_EXAMPLE.metadata,
  scope: { type: "Team" },
  execution_location: "REMOTE",
};

export const PAGE_INFO_EXAMPLE = { has_next_page: true, next_cursor: "WyIyMDI2LTAzLTAxIl0.c2lnbmF0dXJl" };

export const RUN_EVENT_EXAMPLE = {
  seq: 2,
  turn: 1,
  at: "2026-03-01T09:00:00.410Z",
  kind: "run.state",
  from: "QUEUED",
  to: "PENDING",
};
