/**
 * Which folder below `src` may import which. `npm run layers` checks these rules through scripts/check-layers.ts, and
 * test/unit/layers.test.ts breaks each of them once. docs/architecture.md shows the same as a picture.
 */

/** Which folder of the core may import which. No arrow points up: a folder imports only folders of the lines above it. */
const CORE = {
  basics: [],
  model: ["basics/"],
  ports: ["basics/", "model/"],
  runs: ["basics/", "model/", "ports/"],
  team: ["basics/", "model/", "ports/"],
  requests: ["basics/", "model/", "ports/", "runs/", "team/"],
  work: ["basics/", "model/", "ports/", "runs/"],
  threads: ["basics/", "model/", "ports/", "runs/", "team/", "requests/"],
  upkeep: ["basics/", "model/", "ports/", "runs/", "work/", "threads/"],
};

/** The same for the folders of the API. The files beside them put them together. */
const API = {
  schemas: [],
  http: ["schemas/"],
  auth: ["schemas/", "http/"],
  openapi: ["schemas/", "http/"],
  events: ["schemas/", "http/", "auth/", "api-deps.ts"],
  routes: ["schemas/", "http/", "auth/", "events/", "api-deps.ts"],
  pages: ["schemas/", "http/", "auth/", "api-deps.ts"],
};

/** A folder may import itself, the core, and the folders or files listed here. `app` puts everything together. */
const MAY_ALSO_IMPORT = {
  adapters: [],
  agents: ["sandboxes/sandbox.ts", "child-process/"],
  api: [],
  "child-process": [],
  config: [
    "adapters/registry.ts",
    "agents/agent-settings.ts",
    "object-storage/s3-address.ts",
    "outgoing/allow-list.ts",
    "outgoing/sign-in/oidc-config.ts",
    "sandboxes/choose-sandbox.ts",
    "sandboxes/image-rules.ts",
    "sandboxes/sandbox-limits.ts",
    "secrets/redaction.ts",
  ],
  gateway: ["config/models.ts", "outgoing/"],
  git: ["child-process/"],
  "json-schema": [],
  "object-storage": [],
  outgoing: [],
  sandboxes: ["child-process/"],
  secrets: [],
  storage: [],
  workspace: ["child-process/", "git/", "sandboxes/sandbox.ts"],
};

function mayImport(folder, others) {
  const allowed = ["core/", `${folder}/`, ...others].map((path) => `^src/${path.replaceAll(".", "\\.")}`);
  return {
    name: `${folder}-imports`,
    comment: `src/${folder} imports only ${["core", folder, ...others].join(", ")} and packages.`,
    severity: "error",
    from: { path: `^src/${folder}/` },
    to: { path: "^src/", pathNot: allowed },
  };
}

/** `folder` is inside `parent`, and imports of it only itself and `others`. */
function partMayImport(parent, folder, others) {
  const allowed = [`${folder}/`, ...others].map((path) => `^src/${parent}/${path.replaceAll(".", "\\.")}`);
  return {
    name: `${parent}-${folder}-imports`,
    comment: `Of src/${parent}, ${folder} imports only ${[folder, ...others].join(", ")}.`,
    severity: "error",
    from: { path: `^src/${parent}/${folder}/` },
    to: { path: `^src/${parent}/`, pathNot: allowed },
  };
}

/** The folders inside `folder` do not import one another, so that each can be removed alone. */
function independent(folder) {
  return {
    name: `${folder}-are-independent`,
    comment: `No folder inside src/${folder} imports another one.`,
    severity: "error",
    from: { path: `^src/${folder}/([^/]+)/` },
    to: { path: `^src/${folder}/[^/]+/`, pathNot: "^src/[^/]+/$1/" },
  };
}

module.exports = {
  forbidden: [
    {
      name: "core-imports-nothing",
      comment: "The core imports no package, no part of Node and no other folder.",
      severity: "error",
      from: { path: "^src/core/" },
      to: { pathNot: "^src/core/" },
    },
    {
      name: "client-imports-nothing",
      comment: "The client has no dependency and runs outside of Node. It knows the server only over HTTP.",
      severity: "error",
      from: { path: "^clients/typescript/src/" },
      to: { pathNot: "^clients/typescript/src/" },
    },
    {
      name: "cli-imports-only-the-client",
      comment: "The command line is a user of the TypeScript client like any other.",
      severity: "error",
      from: { path: "^cli/src/" },
      to: { path: "^(src|test|scripts|bench|prisma)/|^clients/(?!typescript/(src/index|dist/))" },
    },
    {
      name: "no-client-in-src",
      comment: "The service is installed without its clients.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(cli|clients)/" },
    },
    {
      name: "packages-import-nothing-of-errand",
      comment: "A package gets what it needs of the service as parameters.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/" },
      to: { path: "^(bench|cli|clients|prisma|scripts|src|test|web)/" },
    },
    {
      name: "only-app-imports-packages",
      comment: "src/app starts the database. All other folders get its address.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/app/" },
      to: { path: "^packages/" },
    },
    ...Object.entries(MAY_ALSO_IMPORT).map(([folder, others]) => mayImport(folder, others)),
    ...Object.entries(CORE).map(([folder, others]) => partMayImport("core", folder, others)),
    ...Object.entries(API).map(([folder, others]) => partMayImport("api", folder, others)),
    {
      name: "core-has-no-other-folder",
      comment: "Every file of the core is in one of its folders, which say what it may import.",
      severity: "error",
      from: { path: "^src/core/", pathNot: Object.keys(CORE).map((folder) => `^src/core/${folder}/`) },
      to: {},
    },
    independent("adapters"),
    independent("agents"),
    independent("sandboxes"),
    {
      name: "adapters-do-not-import-their-registry",
      comment: "The registry imports the adapters, never the other way round.",
      severity: "error",
      from: { path: "^src/adapters/[^/]+/" },
      to: { path: "^src/adapters/registry\\.ts$" },
    },
    {
      name: "demo-agent-is-a-program",
      comment: "Errand starts it as a process and talks to it over standard streams, as to any agent.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/agents/demo/" },
      to: { path: "^src/agents/demo/" },
    },
    {
      name: "demo-agent-imports-nothing",
      comment: "It runs inside the sandbox, which contains no other file of Errand.",
      severity: "error",
      from: { path: "^src/agents/demo/" },
      to: { path: "^src/", pathNot: "^src/agents/demo/" },
    },
    {
      name: "nothing-imports-app",
      comment: "Only main.js and src/app see the wiring.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(app/|main\\.js$)" },
      to: { path: "^src/(app/|main\\.js$)" },
    },
    {
      name: "database-behind-ports",
      comment: "Other folders use a store interface of the core. src/storage turns rows into domain types.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/storage/" },
      to: { path: ["^src/storage/generated/", "node_modules/(@prisma|\\.prisma|pg|pg-boss)/"] },
    },
    {
      name: "no-test-code-in-src",
      comment: "The in-memory fakes live in test/support/memory: the service never runs on them.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|scripts|bench)/" },
    },
    {
      name: "no-development-package-in-src",
      comment: "Everything that src and the packages import must be installed by `npm ci --omit=dev`.",
      severity: "error",
      from: { path: "^(src|packages/[^/]+/src)/" },
      // It has types only, which are gone when the service runs.
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        pathNot: "node_modules/@octokit/types/",
      },
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
      from: { path: "^(src|test|cli|clients|packages|web)/", pathNot: "^src/storage/generated/" },
      to: { circular: true },
    },
    {
      name: "no-orphans",
      comment: "A file that no other file imports and that is no entry point is dead.",
      severity: "error",
      from: { orphan: true, path: "^(src|packages/[^/]+/src)/", pathNot: "\\.d\\.ts$" },
      to: {},
    },
  ],
  options: {
    // A type import counts as an import.
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      // A package of types has no other entry.
      mainFields: ["main", "types"],
      conditionNames: ["@errand/source", "import", "node", "default", "types"],
    },
  },
};
