import { globSync } from "node:fs";
import { access, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { configurationDocs } from "../../scripts/configuration-docs.ts";
import { CONNECTIONS_BESIDES } from "../../src/app/compose-stores.ts";
import { readConfig } from "../../src/config/config.ts";
import type { VariableDoc } from "../../src/config/variable-doc.ts";
import { variableDocs } from "../../src/config/variable-docs.ts";
import { JOB_KINDS } from "../../src/core/ports/queue.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const CONFIGS = ["variables", "models", "agents", "sandbox", "limits", "api-limits"].map(
  (name) => `src/config/${name}.ts`,
);

/** The default max_connections of PostgreSQL without superuser_reserved_connections. */
const SERVER_CONNECTIONS = 100 - 3;

const read = (file: string): Promise<string> => readFile(join(ROOT, file), "utf8");
const exists = (file: string): Promise<boolean> =>
  access(join(ROOT, file)).then(
    () => true,
    () => false,
  );

const isPage = (name: string): boolean => name.endsWith(".md") && !name.includes("node_modules/");

async function listPages(): Promise<readonly string[]> {
  const folders = ["docs", "src", "packages"].map(async (folder) => {
    const names = await readdir(join(ROOT, folder), { recursive: true });
    return names.filter((name) => isPage(name)).map((name) => `${folder}/${name}`);
  });
  return ["README.md", "CONTRIBUTING.md", ...(await Promise.all(folders)).flat()];
}

async function listChapters(): Promise<readonly string[]> {
  const pages = await listPages();
  return pages.filter((page) => page.startsWith("docs/decisions/") && basename(page) !== "README.md");
}

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

/** The entries of the lockfile: packages at `…node_modules/<name>`, and our own workspaces at their folders. */
async function readLockfile(): Promise<Record<string, Manifest>> {
  const lockfile = JSON.parse(await read("package-lock.json")) as { packages: Record<string, Manifest> };
  return lockfile.packages;
}

function sectionOf(page: string, title: string): string {
  return page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
}

/** The anchors that GitHub gives to the headings of a page. */
async function headingsOf(page: string): Promise<readonly string[]> {
  const headings = Array.from((await read(page)).matchAll(/^#+ (.+)$/gm), ([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** The first cell of each row of a table, without its head. */
function firstCells(section: string): readonly string[] {
  const rows = Array.from(section.matchAll(/^\| ([^|]+?) +\|/gm), ([, cell = ""]) => cell);
  return rows.slice(1).filter((cell) => !/^-+$/.test(cell));
}

/** All source files of the service except generated ones. */
async function listSources(): Promise<readonly string[]> {
  const folders = ["src", "packages/embedded-postgres/src"].map(async (folder) => {
    const names = await readdir(join(ROOT, folder), { recursive: true });
    return names.filter((name) => /\.(ts|js|mjs)$/.test(name)).map((name) => `${folder}/${name}`);
  });
  return (await Promise.all(folders)).flat().filter((name) => !name.startsWith("src/storage/generated/"));
}

/**
 * Returns true when the file declares the name. A name that the file only imports or uses has moved to another file.
 */
function declares(text: string, name: string): boolean {
  const parameters = "\\((?:[^()]|\\([^()]*\\))*\\)";
  const forms = [
    `^\\s*(?:export )?(?:async )?(?:function\\*?|class|interface|type|const|model)\\s+${name}\\b`,
    // A method: unlike a call, it has a type or a body.
    `^\\s+(?:static |async |get )*${name}(?:<[^(]*>)?${parameters}\\s*[:{]`,
    // A function in a member.
    `^\\s+(?:readonly )?${name}\\s*(?::|=|: [^=\\n]+=)\\s*(?:async )?\\(`,
  ];
  return forms.some((form) => new RegExp(form, "m").test(text));
}

/** A paragraph or list in which a decision says what was rejected. */
const REJECTED = /\*\*Rejected\.\*\*[\s\S]*?(?=\n\*\*[A-Z]|\n## |$)/g;

/** The packages that a decision names: in backticks, with a scope or followed by the version. */
function packagesIn(text: string): readonly string[] {
  const scoped = text.matchAll(/`(@[\w-]+\/[\w.-]+)`/g);
  const versioned = text.matchAll(/`([a-z][\w.-]*)`\s+\d+\.\d/g);
  return [...scoped, ...versioned].map(([, name = ""]) => name);
}

/** The paths that a page names. `*` and `<name>` stand for any name; a file without a folder is in src. */
function pathsIn(text: string): readonly string[] {
  const paths = text.matchAll(
    /`((?:src|packages|test|prisma|scripts|docs|web|clients|cli|bench)\/(?:[\w./*-]|<name>)+)`/g,
  );
  const files = text.matchAll(/`([\w-]+\.(?:ts|js|mjs))`/g);
  return [
    ...Array.from(paths, ([, path = ""]) => path.replace("<name>", "*")),
    ...Array.from(files, ([, name = ""]) => `src/**/${name}`),
  ];
}

const matches = (pattern: string): boolean => globSync(pattern, { cwd: ROOT }).length > 0;

const MESSAGE = /"([a-z_]+(?:\.[a-z_]+)+)"/g;

function namesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)`/g), ([, name = ""]) => name);
}

describe("docs", () => {
  test("docs name only files that exist", async () => {
    const missing: string[] = [];
    for (const page of await listPages()) {
      for (const path of pathsIn(await read(page))) {
        if (!matches(path)) {
          missing.push(`${page}: ${path}`);
        }
      }
    }

    expect(missing).toEqual([]);
  });

  test("comments in the code name only files that exist", async () => {
    const missing: string[] = [];
    for (const source of await listSources()) {
      for (const [, file = ""] of (await read(source)).matchAll(/`([\w./-]+\.(?:ts|js|mjs))`/g)) {
        if (!(await exists(join(source, "..", file))) && !(await exists(file))) {
          missing.push(`${source}: ${file}`);
        }
      }
    }

    expect(missing).toEqual([]);
  });

  test("the READMEs of folders name only files of their folder", async () => {
    const missing: string[] = [];
    const names = await readdir(join(ROOT, "src"), { recursive: true });
    for (const page of names.filter((name) => name.endsWith("README.md")).map((name) => `src/${name}`)) {
      for (const [, file = ""] of (await read(page)).matchAll(/`([\w-]+\.(?:ts|js|mjs))`/g)) {
        if (!names.some((name) => `src/${name}`.startsWith(dirname(page)) && basename(name) === file)) {
          missing.push(`${page}: ${file}`);
        }
      }
    }

    expect(missing).toEqual([]);
  });

  test("docs link only to files that exist", async () => {
    const missing: string[] = [];
    for (const page of await listPages()) {
      for (const [, target = ""] of (await read(page)).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
        if (!(await exists(join(page, "..", target)))) {
          missing.push(`${page}: ${target}`);
        }
      }
    }

    expect(missing).toEqual([]);
  });

  test("docs link only to headings that exist", async () => {
    const missing: string[] = [];
    for (const page of await listPages()) {
      for (const [, target = "", anchor = ""] of (await read(page)).matchAll(
        /\]\((?!https?:)([^)#]*)#([^)]+)\)/g,
      )) {
        const headings = await headingsOf(target === "" ? page : join(page, "..", target));
        if (!headings.includes(anchor)) {
          missing.push(`${page}: ${target}#${anchor}`);
        }
      }
    }

    expect(missing).toEqual([]);
  });

  test("the README has at most 100 lines", async () => {
    expect((await read("README.md")).trimEnd().split("\n").length).toBeLessThanOrEqual(100);
  });

  test("the README links to every page, and CONTRIBUTING.md explains every command", async () => {
    const more = sectionOf(await read("README.md"), "More");
    const pages = (await readdir(join(ROOT, "docs"))).filter((name) => name.endsWith(".md"));
    const contributing = await read("CONTRIBUTING.md");
    const { scripts } = JSON.parse(await read("package.json")) as { scripts: Record<string, string> };
    const isExplained = (name: string) => new RegExp(`npm (run )?${name}(?![:\\w])`).test(contributing);

    expect(pages.filter((page) => !more.includes(`(docs/${page})`))).toEqual([]);
    expect(Object.keys(scripts).filter((name) => !isExplained(name))).toEqual([]);
  });

  test("architecture and decisions name only functions, classes and methods that their files declare", async () => {
    const missing: string[] = [];
    const pages = await Promise.all(["docs/architecture.md", ...(await listChapters())].map(read));
    const named = pages.join("\n").matchAll(/`([\w./-]+\.(?:ts|prisma))`\s+\(([^)]*)\)/g);
    for (const [, file = "", names = ""] of named) {
      const text = await read(file);
      const words = Array.from(names.matchAll(/`([\w.]+)`/g), ([, name = ""]) => name.split("."));
      const lost = words.flat().filter((word) => !declares(text, word));
      if (lost.length > 0) {
        missing.push(`${file}: ${lost.join(", ")}`);
      }
    }

    expect(missing).toEqual([]);
  });

  test("the architecture page names exactly the imports that .dependency-cruiser.cjs allows", async () => {
    const [, table = ""] = (await read(".dependency-cruiser.cjs")).split("const MAY_ALSO_IMPORT = {");
    const entries = (table.split("\n};")[0] ?? "").matchAll(/^ {2}"?([\w-]+)"?: \[([^\]]*)\]/gm);
    const allowed = Array.from(entries, ([, folder = "", paths = ""]) =>
      Array.from(paths.matchAll(/"([^"]+)"/g), ([, path]) => `${folder}: src/${path}`),
    );
    const section = sectionOf(await read("docs/architecture.md"), "Dependency rules");
    const rows = section.matchAll(/^\| `([\w-]+)` +\| ([^|]+) \|$/gm);
    const named = Array.from(rows, ([, folder = "", cell = ""]) =>
      Array.from(cell.matchAll(/`([^`]+)`/g), ([, path]) => `${folder}: ${path}`),
    );

    expect(allowed.flat()).not.toEqual([]);
    expect(named.flat().toSorted()).toEqual(allowed.flat().toSorted());
  });

  test("the architecture page explains each folder of src", async () => {
    const entries = await readdir(join(ROOT, "src"), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

    const [section = ""] = sectionOf(await read("docs/architecture.md"), "Folders").split("\n### ");
    expect(firstCells(section).toSorted()).toEqual(folders.map((name) => `\`${name}\``).toSorted());
  });

  test("the architecture page says of each folder of the core what it may import", async () => {
    const entries = await readdir(join(ROOT, "src/core"), { withFileTypes: true });
    const [, rules = ""] =
      /const CORE = \{\n([\s\S]*?)\n\};/.exec(await read(".dependency-cruiser.cjs")) ?? [];
    const allowed = rules.split("\n").map((line) => line.match(/[a-z]+/g)?.join(" "));
    const [, section = ""] = (await read("docs/architecture.md")).split("\n### The folders of the core\n");
    const rows = (section.split("\n### ")[0] ?? "").matchAll(/^\| (`\w+`) +\|[^|]*\| ([^|]*)\|$/gm);
    const named = Array.from(rows, ([, folder, others]) => `${folder} ${others}`.match(/[a-z]+/g)?.join(" "));

    expect(named).toEqual(allowed);
    expect(named.map((row) => row?.split(" ")[0]).toSorted()).toEqual(
      entries.map(({ name }) => name).toSorted(),
    );
  });

  test("the glossary has at most 45 words, each explained once", async () => {
    const words = firstCells(sectionOf(await read("docs/architecture.md"), "Glossary"));

    expect(words.length).toBeLessThanOrEqual(45);
    expect(words).toEqual([...new Set(words)]);
  });

  test("the architecture page names each file in src/config that declares variables", async () => {
    const [, paragraph = ""] = (await read("docs/architecture.md")).split("**Variable.**");

    expect(CONFIGS.filter((file) => !paragraph.includes(`\`${file}\``))).toEqual([]);
  });

  test("the generated configuration docs match the schemas", async () => {
    for (const [file, text] of Object.entries(configurationDocs())) {
      expect(await read(file)).toBe(text);
    }
  });

  test("docker-compose.yml passes exactly the variables that the docs say", async () => {
    const text = await read("docker-compose.yml");
    const [shared = "", services = ""] = text.split("\nservices:");
    const passed = Array.from(shared.matchAll(/^ {2}([A-Z][A-Z_]+):/gm), ([, name = ""]) => name);
    const ofOneService = Array.from(services.matchAll(/^ +(ERRAND_[A-Z_]+):/gm), ([, name]) => name);
    const expected = Object.entries(variableDocs).flatMap(([name, { compose }]: [string, VariableDoc]) =>
      compose === "no" || name === "ERRAND_ROLE" ? [] : [name],
    );

    expect(passed.toSorted()).toEqual(expected.toSorted());
    expect(ofOneService).toEqual(["ERRAND_ROLE", "ERRAND_ROLE"]);
  });

  test("the operations docs explain each warning and error at its level, and only events that are logged", async () => {
    const page = await read("docs/operations/observe.md");
    const source = (await Promise.all((await listSources()).map(read))).join("\n");
    const calls = source.matchAll(/[.#](warn|error)(\((?:[^()]|\([^()]*\))*\))/g);
    const logged = Array.from(calls, ([, level, args = ""]) =>
      Array.from(args.matchAll(MESSAGE), ([, message]) => `${message}: ${level}`),
    );
    const section = sectionOf(page, "Log events");
    const rows = Array.from(section.matchAll(/^\| ([^|]+) \| (\w*) *\|/gm));
    const explained = rows.flatMap(([, cell = "", level]) =>
      namesIn(cell).map((name) => `${name}: ${level}`),
    );

    expect(logged.flat().filter((message) => !explained.includes(message))).toEqual([]);
    expect(namesIn(page).filter((name) => !source.includes(`"${name}"`))).toEqual([]);
  });

  test("the page on troubleshooting names each check of the doctor", async () => {
    const page = await read("docs/operations/troubleshooting.md");
    const source = (await Promise.all((await listSources()).map(read))).join("\n");
    const checks = Array.from(
      source.matchAll(/name: "([a-z_]+)",\s*(?:async )?run\b/g),
      ([, name = ""]) => name,
    );
    const tables = Array.from(page.matchAll(/^\| .+ \|$/gm), ([row]) => row).filter((row) =>
      row.includes("`"),
    );
    const named = new Set(
      tables.flatMap((row) => Array.from(row.matchAll(/`([a-z_]+)`/g), ([, name = ""]) => name)),
    );

    expect(checks.length).toBeGreaterThan(25);
    expect(checks.filter((name) => !named.has(name))).toEqual([]);
  });

  test("no renamed log event is logged under its old name", async () => {
    const renamed = sectionOf(await read("docs/operations/observe.md"), "Renamed log events");
    const rows = Array.from(renamed.matchAll(/^\| ([a-z_.]+) +\| `([a-z_.]+)` +\|$/gm));
    const source = (await Promise.all((await listSources()).map(read))).join("\n");

    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(([, before]) => source.includes(`"${before}"`))).toEqual([]);
  });

  test("the docs state the time limit for the start of an agent", async () => {
    const [, ms = ""] = /START_TIMEOUT_MS = ([\d_]+)/.exec(await read("src/agents/acp/acp-runner.ts")) ?? [];
    const seconds = Number(ms.replaceAll("_", "")) / 1_000;

    expect(await read("docs/operations/configure.md")).toMatch(
      new RegExp(`\\| start of an agent +\\| ${seconds} s `),
    );
    expect(await read("src/agents/acp/README.md")).toContain(`${seconds} s to start`);
  });

  test("the index of the decisions names exactly the chapters, at most 30", async () => {
    const index = await read("docs/decisions/README.md");
    const named = Array.from(index.matchAll(/^- \[[^\]]+\]\(([\w-]+\.md)\): ./gm), ([, name]) => name);

    expect(named.toSorted()).toEqual((await listChapters()).map((name) => basename(name)).toSorted());
    expect(named.length).toBeLessThanOrEqual(30);
  });

  test("decisions name only packages that exist", async () => {
    const packages = Object.keys(await readLockfile()).map((key) => key.split("node_modules/").at(-1) ?? "");
    const missing: string[] = [];
    for (const chapter of await listChapters()) {
      const named = packagesIn((await read(chapter)).replace(REJECTED, ""));
      const lost = named.filter((name) => !packages.includes(name));
      missing.push(...lost.map((name) => `${chapter}: ${name}`));
    }

    expect(missing).toEqual([]);
  });

  test("no package that a decision rejects is a dependency", async () => {
    const own = Object.entries(await readLockfile()).filter(([key]) => !key.includes("node_modules/"));
    const used = own.flatMap(([, manifest]) =>
      Object.keys({
        ...manifest.dependencies,
        ...manifest.devDependencies,
        ...manifest.optionalDependencies,
      }),
    );
    const chapters = await Promise.all((await listChapters()).map(read));
    const rejected = chapters.flatMap((text) => packagesIn((text.match(REJECTED) ?? []).join("\n")));

    expect(used).toContain("fastify");
    expect(rejected).toContain("@fastify/rate-limit");
    expect(rejected.filter((name) => used.includes(name))).toEqual([]);
  });

  test("the code names only chapters that exist", async () => {
    const missing: string[] = [];
    for (const source of [...(await listSources()), "prisma/schema.prisma"]) {
      for (const [chapter] of (await read(source)).matchAll(/docs\/decisions\/[\w.-]*\w/g)) {
        if (!(await exists(chapter))) {
          missing.push(`${source}: ${chapter}`);
        }
      }
    }

    expect(missing).toEqual([]);
  });

  test("the decision on jobs names all kinds of jobs", async () => {
    const kinds = JOB_KINDS.map((kind) => `\`${kind}\``).join(", ");

    expect(await read("docs/decisions/jobs-and-schedules.md")).toContain(`nothing but a kind (${kinds})`);
  });

  test("the docs state how many connections a process opens, and how many processes a server can have", async () => {
    const enoughFor = Math.floor(
      SERVER_CONNECTIONS / (readConfig({}).databaseConnections + CONNECTIONS_BESIDES),
    );

    const operations = await read("docs/operations/scale.md");
    expect(operations).toContain(`\`ERRAND_DATABASE_CONNECTIONS\` + ${CONNECTIONS_BESIDES}.`);
    expect(operations).toContain(`is enough for ${enoughFor} processes with default settings.`);
    expect(await read("docs/configuration.md")).toContain(`opens ${CONNECTIONS_BESIDES} more connections`);
  });
});
