/** Heads the reference page. */
export const DESCRIPTION = `Runs of cloud coding agents: start, watch, steer, stop.

**Keys.** Every request but the public ones carries \`Authorization: Bearer <key>\`. A key has scopes; each operation names
the one that it needs.

**Refusals** are \`application/problem+json\` in the shape of \`Error\`. Branch on \`code\`, never on the text. The header
\`x-should-retry\` says whether the same request may succeed later, \`Retry-After\` (seconds) and \`retry-after-ms\` when.

**Repeats.** A write under an \`Idempotency-Key\` is done once: the same key with the same body is answered with the first
answer and \`Idempotent-Replay: true\`; with another body it is refused. An answer that shows a secret is given again to the
very API key that asked first, and to no other of the same principal.

**Limits.** So many requests a minute and so many open streams for each key; \`RateLimit-Policy\` and \`RateLimit\` (and
\`X-RateLimit-Limit\`, \`-Remaining\`, \`-Reset\` for older clients) say how many and how many are left. They are counted by
each process of the server for itself, so a server of several processes allows more.

**Sizes.** Unless the server's operator set others: a body has at most 30 MiB, a prompt and a follow-up 256 KiB, a title 300
characters, a base prompt 64 KiB, the rest of a configuration 256 KiB, an attachment or image 10 MiB, and all of a run
together 20 MiB.

**Growth.** Version 1 only grows: new members, new event kinds and new operations may come at any time. Ignore what you do
not know. What the server does not know, it ignores too, but for a kind of budget: a limit that nobody would keep is refused.`;

/** Operations come under one of these, in this order. */
export const TAGS: Readonly<Record<string, string>> = {
  runs: "Errands: a request and all that is done for it.",
  conversations: "What was said and done, told in one shape whatever the agent.",
  artifacts: "What runs made.",
  schedules: "Runs that start by themselves, again and again.",
  rules: "What is allowed, what waits for approval, and which environment a request gets.",
  threads: "Where runs are talked about outside, and what came in from there.",
  environments: "What agents work in, and the secrets that they are given.",
  agents: "The agents that runs can be done by, their models, and the workers that run them.",
  skills: "Instructions for agents that lie in repositories.",
  webhooks: "Addresses that are told of runs, after the Standard Webhooks specification.",
  people: "Who may do what: teams, principals, keys, and what talks to us from outside.",
  operations: "How the installation is, and what runs took.",
};
