import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";
import { asRecord, type JsonRecord } from "../json.ts";
import { GITHUB_APP } from "./github-fixture.ts";

const ROUTE = /^\/repos\/[^/]+\/[^/]+\/git\/(blobs|trees|commits)$/;
const SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n Z2l0aHVi\n -----END PGP SIGNATURE-----\n";

/**
 * GitHub's routes that make git's objects, in a real bare repository. emulate keeps objects of its own, which cannot be
 * fetched.
 */
export class GithubGitData {
  /** The bare repository. Undefined: emulate answers. */
  repository: string | undefined;
  /** Why GitHub does not sign, as an Enterprise Server says it. Undefined: it signs what an App makes without an author. */
  unsigned: string | undefined;

  async answer(request: FrontRequest, isApp: boolean): Promise<FrontAnswer | undefined> {
    const [, kind] = (request.method === "POST" && ROUTE.exec(request.path)) || [];
    if (kind === undefined || this.repository === undefined) {
      return undefined;
    }
    const body = asRecord(JSON.parse(request.body.toString()));
    try {
      return jsonAnswer(201, await this.#make(this.repository, kind, body, isApp));
    } catch (error) {
      return jsonAnswer(422, { message: String(error) });
    }
  }

  async #make(repository: string, kind: string, body: JsonRecord, isApp: boolean): Promise<JsonRecord> {
    if (kind === "blobs") {
      return { sha: await makeBlob(repository, String(body.content), String(body.encoding)) };
    }
    if (kind === "trees") {
      return { sha: await makeTree(repository, body) };
    }
    const reason = this.unsigned ?? (isApp && body.author === undefined ? undefined : "unsigned");
    const sha = await makeCommit(repository, body, reason === undefined);
    return { sha, verification: { verified: reason === undefined, reason: reason ?? "valid" } };
  }
}

function makeBlob(repository: string, content: string, encoding: string): Promise<string> {
  const bytes = Buffer.from(content, encoding === "base64" ? "base64" : "utf8");
  return git(repository, ["hash-object", "-w", "--stdin"], bytes);
}

async function makeTree(repository: string, body: JsonRecord): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "errand-tree-"));
  const env = { GIT_INDEX_FILE: join(folder, "index") };
  try {
    if (body.base_tree !== undefined) {
      await git(repository, ["read-tree", String(body.base_tree)], "", env);
    }
    const entries = (body.tree as readonly JsonRecord[]).toSorted(
      (one, other) => Number(one.sha !== null) - Number(other.sha !== null),
    );
    for (const { content, mode, path, sha } of entries) {
      const id = content === undefined ? sha : await makeBlob(repository, String(content), "utf-8");
      const line = `${id === null ? "0" : mode} ${id ?? "0".repeat(40)}\t${path}\0`;
      await git(repository, ["update-index", "-z", "--index-info"], line, env);
    }
    return await git(repository, ["write-tree"], "", env);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function makeCommit(repository: string, body: JsonRecord, isSigned: boolean): Promise<string> {
  const bot = `${GITHUB_APP.slug}[bot]`;
  const time = `${Math.floor(Date.now() / 1_000)} +0000`;
  const parents = (body.parents as readonly string[]).map((parent) => `parent ${parent}\n`);
  const commit = [
    `tree ${body.tree}\n`,
    ...parents,
    `author ${bot} <${GITHUB_APP.botUserId}+${bot}@users.noreply.127.0.0.1> ${time}\n`,
    `committer GitHub <noreply@github.com> ${time}\n`,
    isSigned ? SIGNATURE : "",
    `\n${body.message}`,
  ].join("");
  return git(repository, ["hash-object", "-t", "commit", "-w", "--stdin"], commit);
}

async function git(
  gitDir: string,
  args: readonly string[],
  input: string | Buffer,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { PATH: process.env.PATH, GIT_DIR: gitDir, GIT_CONFIG_GLOBAL: "/dev/null", ...more };
  const child = spawn("git", args, { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined).end(input);
  const [output, said, [code]] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    once(child, "exit"),
  ]);
  if (code !== 0) {
    throw new Error(`git ${args.join(" ")}: ${said}`);
  }
  return output.toString().trim();
}
