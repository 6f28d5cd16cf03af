/**
 * Who may import whom. The arrows point at src/core; docs/architecture.md shows them as a picture.
 * `npm run layers` runs this through scripts/check-layers.ts, test/unit/layers.test.ts plants violations.
 */

/** The folders beside the core. Each is one part, and knows of the others only what a rule below names. */
const PARTS = [
  "adapters",
  "agents",
  "api",
  "gateway",
  "git",
  "news",
  "outgoing",
  "queue",
  "sandboxes",
  "skills",
  "storage",
  "webhooks",
  "workspace",
];

/** The files that put parts together: the only ones that see all of them. */
const WIRING = "^src/(compose|compose-[a-z]+|start|serve|main)\\.[jt]s$";

/** One part may import itself, the core, and what `also` names. Packages are another matter. */
function partKnows(part, also = []) {
  return {
    name: `${part}-knows-only-core`,
    comment: `src/${part} may import src/core and itself${also.length > 0 ? `, and ${also.join(", ")}` : ""}.`,
    severity: "error",
    from: { path: `^src/${part}/` },
    to: { path: "^src/", pathNot: ["^src/core/", `^src/${part}/`, ...also.map(exactly)] },
  };
}

function exactly(path) {
  return `^${path.replaceAll(".", "\\.")}$`;
}

/** The members of `folder` do not see one another: each can be taken out without the others noticing. */
function strangers(folder) {
  return {
    name: `${folder}-are-strangers`,
    comment: `One folder below src/${folder} never imports another.`,
    severity: "error",
    from: { path: `^src/${folder}/([^/]+)/` },
    to: { path: `^src/${folder}/[^/]+/`, pathNot: "^src/[^/]+/$1/" },
  };
}

module.exports = {
  forbidden: [
    {
      name: "core-is-alone",
      comment: "The core imports nothing outside itself: no package, no part of Node, no other folder.",
      severity: "error",
      from: { path: "^src/core/" },
      to: { pathNot: "^src/core/" },
    },
    partKnows("adapters"),
    partKnows("agents", ["src/sandboxes/sandbox.ts", "src/with-pipes.ts"]),
    partKnows("api"),
    partKnows("gateway", [
      "src/model-config.ts",
      "src/outgoing/destinations.ts",
      "src/outgoing/guarded-connector.ts",
    ]),
    partKnows("git", ["src/with-pipes.ts"]),
    partKnows("news"),
    partKnows("outgoing"),
    partKnows("queue", ["src/storage/store-parts.ts"]),
    partKnows("sandboxes", ["src/with-pipes.ts"]),
    partKnows("skills", ["src/git/mirror.ts", "src/git/repository-mirrors.ts"]),
    partKnows("storage", ["src/start-error.ts", "src/with-pipes.ts"]),
    partKnows("webhooks", ["src/outgoing/destinations.ts", "src/outgoing/guarded-connector.ts"]),
    partKnows("workspace", [
      "src/git/repository-clones.ts",
      "src/git/working-clone.ts",
      "src/sandboxes/sandbox.ts",
    ]),
    strangers("adapters"),
    strangers("agents"),
    strangers("sandboxes"),
    {
      name: "adapters-do-not-see-their-registry",
      comment: "The registry knows the adapters, never the other way round.",
      severity: "error",
      from: { path: "^src/adapters/[^/]+/" },
      to: { path: "^src/adapters/registry\\.ts$" },
    },
    {
      name: "demo-agent-is-a-program",
      comment: "It is started as a process and talked to over its standard streams, like any other agent.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/agents/demo/" },
      to: { path: "^src/agents/demo/" },
    },
    {
      name: "demo-agent-stands-alone",
      comment: "It runs inside the sandbox, where nothing else of ours is to be needed.",
      severity: "error",
      from: { path: "^src/agents/demo/" },
      to: { path: "^src/", pathNot: "^src/agents/demo/" },
    },
    {
      name: "wiring-by-hand",
      comment:
        "Only compose*.ts, start.ts, serve.ts and main.js see the parts. config.ts and its like read the names of adapters, agents and sandboxes.",
      severity: "error",
      from: { path: "^src/[^/]+$", pathNot: WIRING },
      to: {
        path: `^src/(${PARTS.join("|")})/`,
        pathNot: [
          "^src/adapters/registry\\.ts$",
          "^src/agents/agent-settings\\.ts$",
          "^src/outgoing/allow-list\\.ts$",
          "^src/sandboxes/(choose-sandbox|sandbox-limits)\\.ts$",
        ],
      },
    },
    {
      name: "registry-is-for-the-wiring",
      comment: "All adapters at once are seen by config.ts, which reads their variables, and by the wiring.",
      severity: "error",
      from: { path: "^src/", pathNot: [WIRING, "^src/config\\.ts$"] },
      to: { path: "^src/adapters/registry\\.ts$" },
    },
    {
      name: "database-behind-ports",
      comment:
        "Who wants something of the database asks a port. Rows become our own types at the border of src/storage.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(storage|queue|news)/" },
      to: { path: ["^src/storage/generated/", "node_modules/(@prisma|\\.prisma|pg|pg-boss)/"] },
    },
    {
      name: "twins-are-for-tests",
      comment: "What lives in memory alone keeps no promise: the service never runs on a port's twin.",
      severity: "error",
      from: { path: "^src/", pathNot: "/memory(/|-)" },
      to: { path: "^src/.*/memory(/|-)" },
    },
    {
      name: "no-test-code-in-src",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|scripts|bench)/" },
    },
    {
      name: "no-development-package-in-src",
      comment: "What src imports must be there after `npm ci --omit=dev`.",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "not-resolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-cycles",
      severity: "error",
      from: { path: "^(src|test)/", pathNot: "^src/storage/generated/" },
      to: { circular: true },
    },
    {
      name: "no-orphans",
      comment: "A file that nobody imports and that is no entry is dead.",
      severity: "error",
      from: { orphan: true, path: "^src/", pathNot: "\\.d\\.ts$" },
      to: {},
    },
  ],
  options: {
    // Also what is imported as a type alone: an arrow is an arrow.
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
