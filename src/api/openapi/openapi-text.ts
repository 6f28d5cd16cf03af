/** The introduction of the reference page. */
export const DESCRIPTION = `Start, watch, steer and stop runs of coding agents.

**Keys.** Every request carries \`Authorization: Bearer <key>\`, except requests to public operations. A key has
scopes. Each operation names the scope that it requires.

**Errors** are \`application/problem+json\` in the format of \`Error\`. Programs should decide by \`code\`,
never by the text. The header \`x-should-retry\` tells whether the same request may succeed later. \`Retry-After\`
(in seconds) and \`retry-after-ms\` tell how long to wait.

**Repeats.** A write with an \`Idempotency-Key\` is executed once. The same key with the same body returns the first
response and \`Idempotent-Replay: true\`; with another body, the request is refused. A response that contains a secret is repeated
only for the API key that sent the first request. Other keys of the same principal are refused.

**Limits.** Each principal has a limit of open streams, and a bucket of requests that refills continuously. \`RateLimit-Policy\` and \`RateLimit\` (and, for
older clients, \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\`) contain the limit and the remainder. Each process of the
server counts separately, so a server with several processes allows more.

**Sizes.** Unless the operator of the server configures other limits, a body has at most 30 MiB, a prompt and a follow-up 256 KiB, a title 300
characters, a base prompt 64 KiB, the rest of a configuration 256 KiB, an attachment or image 10 MiB, and all of a run
together 20 MiB.

**Compatibility.** Version 1 only grows: members, event kinds and operations may be added at any time. Clients should ignore
what they do not know. The server also accepts unknown query keys and members, and names in \`Errand-Ignored\` what it does not
use.`;

/** The tags of the operations, in this order. */
export const TAGS: Readonly<Record<string, string>> = {
  runs: "Runs: a request and everything that is done for it.",
  conversations: "Messages and actions, in a format that is the same for every agent.",
  artifacts: "The results of runs.",
  schedules: "Schedules that start runs repeatedly.",
  rules: "Policies (what is allowed or needs approval) and routing rules (which environment a request gets).",
  threads: "External conversations about runs, and incoming events.",
  "mcp-servers": "MCP servers that the runs of a team share.",
  environments: "What agents work in, and the secrets that they get.",
  agents: "The agents that can do runs, their models, and the workers that execute runs.",
  skills: "Instructions for agents, stored in repositories.",
  webhooks: "URLs that receive events of runs, as defined by the Standard Webhooks specification.",
  people: "Teams, principals, keys, and the external accounts and installations that are connected.",
  operations: "The health of the server, the audit log and the usage of runs.",
};
