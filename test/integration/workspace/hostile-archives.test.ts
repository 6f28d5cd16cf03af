import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unpackArchive } from "../../../src/workspace/unpack-archive.ts";

let root: string;
let outside: string;
let target: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-archive-"));
  outside = join(root, "outside");
  target = join(root, "target");
  await mkdir(outside);
  await mkdir(target);
});
afterEach(async () => {
  expect(await readdir(root)).not.toContain("escaped.txt");
  expect(await readdir(outside)).toEqual([]);
  await rm(root, { recursive: true });
});

test.each(["../escaped.txt", "workspace/../../escaped.txt", "ABSOLUTE/escaped.txt"])(
  "an archive with a file at %s is rejected",
  async (name) => {
    const path = name.replace("ABSOLUTE", root);
    const archive = await hostileArchive([{ path, content: "x" }]);

    await expect(unpackArchive(archive, target)).rejects.toThrow(`a path that leads outside: ${path}`);
  },
);

test("an archive with a file below a link is rejected", async () => {
  const archive = await hostileArchive([
    { path: "workspace/up", linkTo: outside },
    { path: "workspace/up/file.txt", content: "x" },
  ]);

  await expect(unpackArchive(archive, target)).rejects.toThrow("EEXIST");
});

test("an archive with a link below another link is rejected", async () => {
  const archive = await hostileArchive([
    { path: "workspace/file.txt", content: "x" },
    { path: "workspace/up", linkTo: outside },
    { path: "workspace/up/link", linkTo: "/etc" },
  ]);

  await expect(unpackArchive(archive, target)).rejects.toThrow(
    "a link below another link: workspace/up/link",
  );
});

test("an archive with a hard link to a file outside is rejected", async () => {
  const archive = await hostileArchive([{ path: "workspace/hard", hardLinkTo: "../../../../../etc/passwd" }]);

  await expect(unpackArchive(archive, target)).rejects.toThrow("a path that leads outside: workspace/hard");
});

type HostileEntry =
  | { readonly path: string; readonly content: string }
  | { readonly path: string; readonly linkTo: string }
  | { readonly path: string; readonly hardLinkTo: string };

/**
 * Creates an archive that tar would not create: the entries are packed under harmless names, which are then replaced.
 */
async function hostileArchive(entries: readonly HostileEntry[]): Promise<Uint8Array> {
  const source = await mkdtemp(join(root, "evil-"));
  for (const [index, entry] of entries.entries()) {
    await ("linkTo" in entry
      ? symlink(entry.linkTo, join(source, `${index}`))
      : writeFile(join(source, `${index}`), "content" in entry ? entry.content : ""));
  }
  const onWriteEntry = (header: { path: string; type?: string; linkpath?: string }) => {
    const entry = entries[Number(header.path)];
    header.path = entry?.path ?? header.path;
    if (entry !== undefined && "hardLinkTo" in entry) {
      header.type = "Link";
      header.linkpath = entry.hardLinkTo;
    }
  };
  const names = entries.map((_, index) => `${index}`);
  const chunks: Buffer[] = [];
  for await (const chunk of create({ cwd: source, gzip: true, preservePaths: true, onWriteEntry }, names)) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
