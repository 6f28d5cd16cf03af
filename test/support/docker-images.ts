import { execFile } from "node:child_process";
import { access, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const USUAL = [
  ...[
    "sh",
    "bash",
    "cat",
    "chmod",
    "cp",
    "cut",
    "date",
    "dd",
    "env",
    "false",
    "find",
    "grep",
    "head",
    "id",
    "kill",
  ],
  ...[
    "ln",
    "ls",
    "mkdir",
    "mv",
    "nohup",
    "ps",
    "pwd",
    "rm",
    "sed",
    "seq",
    "setsid",
    "sleep",
    "sort",
    "tail",
    "tee",
  ],
  ...["touch", "tr", "true", "truncate", "uname", "unshare", "wc", "xargs", "timeout", "dirname", "basename"],
  // For system calls that no other program makes.
  ...["perl", "stat"],
];

const GIT_FOLDERS = [
  "/usr/lib/git-core",
  "/usr/share/git-core/templates",
  "/etc/ssl/certs/ca-certificates.crt",
];

/** The program that git starts for HTTP. */
const GIT_HTTP = "/usr/lib/git-core/git-remote-http";

const NODE_ALONE = /\/(libstdc\+\+|libgcc_s)/;

const ENVIRONMENT = "ENV PATH=/usr/local/bin:/usr/bin:/bin";

/** Builds an image from the lines of a Dockerfile, none of which may run a program. */
export async function buildImage(
  call: (...args: string[]) => Promise<string>,
  name: string,
  {
    files = {},
    lines,
  }: { readonly lines: readonly string[]; readonly files?: Readonly<Record<string, string>> },
): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "errand-image-"));
  try {
    for (const [path, content] of Object.entries({ ...files, Dockerfile: lines.join("\n") })) {
      await writeFile(join(root, path), content);
    }
    await call("build", "--network", "none", "--tag", name, root);
    return name;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Copies an image with these members in its configuration, which may be any that no Dockerfile could produce. */
export async function changeImage(
  call: (...args: string[]) => Promise<string>,
  { config, from, name }: { readonly from: string; readonly name: string; readonly config: object },
): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "errand-image-"));
  try {
    await call("save", "--output", join(root, "image"), from);
    await run("tar", ["--extract", "--file", join(root, "image"), "--directory", root]);
    const [manifest] = JSON.parse(await readFile(join(root, "manifest.json"), "utf8"));
    const image = JSON.parse(await readFile(join(root, manifest.Config), "utf8"));
    const changed = { ...image, config: { ...image.config, ...config } };
    await writeFile(join(root, manifest.Config), JSON.stringify(changed));
    await writeFile(join(root, "manifest.json"), JSON.stringify([{ ...manifest, RepoTags: [name] }]));
    await rm(join(root, "repositories"), { force: true });
    await rm(join(root, "image"));
    await run("tar", ["--create", "--file", `${root}.tar`, "--directory", root, "."]);
    await call("load", "--input", `${root}.tar`);
    return name;
  } finally {
    await Promise.all([root, `${root}.tar`].map((path) => rm(path, { recursive: true, force: true })));
  }
}

/** Builds images from programs of this machine, so that no registry is needed. */
export async function buildImages(
  root: string,
  call: (...args: string[]) => Promise<string>,
): Promise<{ imageWithNode: string; imageBare: string }> {
  const [imageWithNode, imageBare] = ["errand-test:node", "errand-test:bare"];
  const usual = await locate(USUAL);
  const users = ["/etc/passwd", "/etc/group"];
  // Every image with glibc has the whole of it, whatever its programs use.
  const glibc = (await librariesOf([process.execPath])).filter((path) => !NODE_ALONE.test(path));
  await importImage(root, call, { name: imageBare, paths: [...usual, ...users, ...glibc] });
  const git = await locate(["git"]);
  const folders = (await Promise.all(GIT_FOLDERS.map(existing))).flat();
  const more = { folders, node: process.execPath, linked: await existing(GIT_HTTP) };
  await importImage(root, call, { name: imageWithNode, paths: [...usual, ...users, ...git], ...more });
  return { imageWithNode, imageBare };
}

interface ImageFiles {
  readonly name: string;
  readonly paths: readonly string[];
  /** Copied as they are, with their links. */
  readonly folders?: readonly string[];
  readonly node?: string;
  /** Programs in the folders that need libraries of their own. */
  readonly linked?: readonly string[];
}

async function importImage(
  root: string,
  call: (...args: string[]) => Promise<string>,
  { folders = [], linked = [], name, node, paths }: ImageFiles,
): Promise<void> {
  const tarFile = join(root, `${name.replace(":", "-")}.tar`);
  const libraries = await librariesOf([...paths, ...linked, ...(node === undefined ? [] : [node])]);
  const add = (...args: string[]) => run("tar", ["--append", "--file", tarFile, "--absolute-names", ...args]);
  // Links are replaced by their targets, so that a program is at its usual path whatever the folder layout of this
  // machine is.
  await add("--dereference", ...new Set([...paths, ...libraries]));
  if (folders.length > 0) {
    await add(...folders);
  }
  if (node !== undefined) {
    await add("--dereference", "--transform", "s,^.*$,usr/local/bin/node,", node);
  }
  await call("import", "--change", ENVIRONMENT, tarFile, name);
}

async function locate(names: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    names.map(async (name) => (await Promise.all([`/usr/bin/${name}`, `/bin/${name}`].map(existing))).flat()),
  );
  return found.flat();
}

async function existing(path: string): Promise<readonly string[]> {
  return await access(path).then(
    () => [path],
    () => [],
  );
}

/** The libraries under the names by which programs load them, and the loader. */
async function librariesOf(paths: readonly string[]): Promise<readonly string[]> {
  const programs = await Promise.all(paths.map((path) => realpath(path)));
  const { stdout } = await run("sh", [
    "-c",
    'for each; do ldd "$each" 2>/dev/null; done; true',
    "sh",
    ...programs,
  ]);
  const libraries = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = ""]) => path);
  return [...new Set(libraries)];
}
