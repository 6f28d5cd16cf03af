const WEBHOOK_ID = "0195b2a4-7f00-7c11-9d2e-5a6b7c8d9e0f";
const RUN_ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";

export const WEBHOOK_REQUEST_EXAMPLE = {
  url: "https://board.example.com/errand",
  description: "Moves the ticket",
  events: ["run.succeeded", "run.failed", "run.error"],
};

export const WEBHOOK_CHANGE_EXAMPLE = { enabled: true };

export const WEBHOOK_EXAMPLE = {
  id: WEBHOOK_ID,
  ...WEBHOOK_REQUEST_EXAMPLE,
  enabled: true,
  created_by: "0195b2a0-0000-7000-8000-000000000001",
  created_at: "2026-03-01T08:00:00.000Z",
  updated_at: "2026-03-01T08:00:00.000Z",
};

/** An invented secret, like all values in this file. */
export const REVEALED_WEBHOOK_EXAMPLE = {
  ...WEBHOOK_EXAMPLE,
  secret: "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiB3ZWJob29rcw==",
};

export const RUN_WEBHOOK_EXAMPLE = {
  url: "https://board.example.com/errand",
  secret: "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiB3ZWJob29rcw==",
};

export const DELIVERY_EXAMPLE = {
  id: "0195b2a8-7bd2-7a30-8c44-1d2e3f405162",
  webhook_id: WEBHOOK_ID,
  type: "run.succeeded",
  run_id: RUN_ID,
  seq: 41,
  state: "waiting",
  tries: 1,
  error: "The receiver answered HTTP 503.",
  next_try_at: "2026-03-01T09:04:37.000Z",
  created_at: "2026-03-01T09:04:31.400Z",
};

export const TRY_EXAMPLE = {
  number: 1,
  at: "2026-03-01T09:04:31.700Z",
  duration_ms: 212,
  status: 503,
  error: "The receiver answered HTTP 503.",
};

export const DELIVERY_DETAIL_EXAMPLE = {
  ...DELIVERY_EXAMPLE,
  body: `{"type":"run.succeeded","timestamp":"2026-03-01T09:04:31.250Z","data":{"run_id":"${RUN_ID}","seq":41,"state":"SUCCEEDED"}}`,
  history: [TRY_EXAMPLE],
};
