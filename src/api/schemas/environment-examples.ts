export const ENVIRONMENT_CONFIG_EXAMPLE = {
  name: "Backend",
  description: "The API server and its workers",
  docker_image: "node:24",
  github_repos: [{ owner: "acme", repo: "api" }],
  setup_commands: ["npm ci"],
  network: "none",
};

export const ENVIRONMENT_EXAMPLE = {
  uid: "4fXq0ZsT9bKc2LmVwY7dRh",
  config: ENVIRONMENT_CONFIG_EXAMPLE,
  last_updated: "2026-02-03T14:10:00.000Z",
  setup_failed: false,
  last_task_run_timestamp: "2026-03-01T09:00:00.410Z",
  last_task_created: {
    id: "0195b2a4-5c1f-7a3b-9d52-1f0c8e6b4a21",
    title: "Fix the parser",
    prompt: "Fix the parser, please",
    state: "SUCCEEDED",
    created_at: "2026-03-01T09:00:00.000Z",
    updated_at: "2026-03-01T09:04:31.250Z",
    started_at: "2026-03-01T09:00:00.410Z",
  },
  scope: { type: "Team" },
  creator: { uid: "0195b2a0-0000-7000-8000-000000000001", type: "user", display_name: "Mira" },
  last_editor: { uid: "0195b2a0-0000-7000-8000-000000000001", type: "user", display_name: "Mira" },
};
