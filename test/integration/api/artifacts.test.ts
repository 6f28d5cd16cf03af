import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import type { ArtifactBody } from "../../../src/core/model/workspaces/artifact.ts";
import { createPrismaBlobStore } from "../../../src/storage/blob-store.ts";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
let database: Database;
beforeAll(async () => {
  harness = await startHarness();
  database = new Database({ url: harness.databaseUrl, maxConnections: 1, log: SILENT_LOG });
});
afterAll(async () => {
  await database.close();
  await harness.close();
});

const AGENT = "/api/v1/agent";

function fileAt(filePath: string, mimeType: string): ArtifactBody {
  return { type: "FILE", filePath, fileName: filePath.split("/").at(-1) ?? "", mimeType };
}

/** Creates an artifact and returns its uid. */
async function make(runId: string, body: ArtifactBody, bytes?: Buffer): Promise<string> {
  const key = "filePath" in body ? body.filePath : "url" in body ? body.url : body.type;
  const artifact = bytes === undefined ? { key, body } : { key, body, file: await stored(bytes) };
  await harness.edit(runId, (edit) => edit.addArtifact(artifact));
  const artifacts = await harness.storage.files.artifactsOf([runId as RunId]);
  return artifacts.find((artifact) => artifact.key === key)?.id ?? "";
}

async function stored(bytes: Buffer) {
  const blobId = await createPrismaBlobStore(database, harness.clock).put(bytes);
  return { blobId, sizeBytes: bytes.length, hash: createHash("sha256").update(bytes).digest("hex") };
}

async function download(uid: string, key = harness.key): Promise<Answer> {
  const { headers } = await call(harness, `${AGENT}/artifacts/${uid}/download`, { key });
  return call(harness, headers.get("location") ?? "", { key: null });
}

describe("the artifacts of a run", () => {
  test("a run has its artifacts in the documented format, oldest first", async () => {
    const runId = await createRun(harness);
    const uid = await make(runId, fileAt("artifacts/a.md", "text/markdown"), Buffer.from("# a"));
    await make(runId, { type: "PULL_REQUEST", url: "https://x/pull/1", branch: "b" });
    await make(runId, { type: "PLAN", documentUid: "d", title: "t" });
    await make(runId, { type: "EXTERNAL_REFERENCE", referenceType: "ticket", url: "https://x/1" });

    const { body } = await call(harness, `${AGENT}/runs/${runId}`);

    const created_at = expect.stringMatching(/Z$/);
    const data = {
      artifact_uid: uid,
      filepath: "artifacts/a.md",
      filename: "a.md",
      mime_type: "text/markdown",
    };
    expect(body.artifacts).toEqual([
      { artifact_type: "FILE", created_at, data: { ...data, size_bytes: 3 } },
      {
        artifact_type: "PULL_REQUEST",
        created_at,
        data: { url: "https://x/pull/1", branch: "b", status: "unknown" },
      },
      { artifact_type: "PLAN", created_at, data: { document_uid: "d", title: "t" } },
      {
        artifact_type: "EXTERNAL_REFERENCE",
        created_at,
        data: { reference_type: "ticket", url: "https://x/1" },
      },
    ]);
  });

  test("each run in a list has its own artifacts, and a run without artifacts has none", async () => {
    const key = await harness.addUser("lister");
    const [first, second, none] = [
      await createRun(harness, {}, { key }),
      await createRun(harness, {}, { key }),
      await createRun(harness, {}, { key }),
    ];
    await make(first, { type: "PLAN", documentUid: "1" });
    await make(second, { type: "PLAN", documentUid: "2" });

    const { body } = await call(harness, `${AGENT}/runs?sort_by=created_at&sort_order=asc&limit=500`, {
      key,
    });

    const of = (id: string) => body.runs.find((run: { run_id: string }) => run.run_id === id);
    expect(of(first).artifacts).toMatchObject([{ data: { document_uid: "1" } }]);
    expect(of(second).artifacts).toMatchObject([{ data: { document_uid: "2" } }]);
    expect(of(none)).not.toHaveProperty("artifacts");
  });

  test("artifacts can be filtered by type", async () => {
    const runId = await createRun(harness);
    await make(runId, { type: "SCREENSHOT", mimeType: "image/png" });

    const idsOf = async (type: string) =>
      (await call(harness, `${AGENT}/runs?artifact_type=${type}`)).body.runs.map(
        ({ run_id }: { run_id: string }) => run_id,
      );

    expect(await idsOf("SCREENSHOT")).toEqual([runId]);
    expect(await idsOf("PULL_REQUEST")).not.toContain(runId);
  });
});

describe("one artifact", () => {
  test("a file comes with a URL that needs no key and expires", async () => {
    const runId = await createRun(harness);
    const uid = await make(runId, fileAt("artifacts/a.md", "text/markdown"), Buffer.from("# a"));

    const { body } = await call(harness, `${AGENT}/artifacts/${uid}`);

    expect(body).toEqual({
      artifact_uid: uid,
      artifact_type: "FILE",
      created_at: expect.stringMatching(/Z$/),
      data: {
        content_type: "text/markdown",
        download_url: expect.stringContaining(`${PUBLIC_URL}${AGENT}/artifacts/${uid}/file?`),
        expires_at: expect.stringMatching(/Z$/),
        filename: "a.md",
        filepath: "artifacts/a.md",
        size_bytes: 3,
      },
    });
    const { pathname, search } = new URL(body.data.download_url);
    const file = await fetch(new URL(pathname + search, harness.url));
    expect(await file.text()).toBe("# a");
    const expiresInMs = Date.parse(body.data.expires_at) - harness.clock.now().getTime();
    expect(expiresInMs).toBeGreaterThan(200_000);
    expect(expiresInMs).toBeLessThanOrEqual(300_000);
  });

  test("a screenshot has no name", async () => {
    const runId = await createRun(harness);
    const uid = await make(runId, { type: "SCREENSHOT", mimeType: "image/png" }, Buffer.from("png"));

    const { body } = await call(harness, `${AGENT}/artifacts/${uid}`);

    expect(body).toMatchObject({ artifact_type: "SCREENSHOT", data: { content_type: "image/png" } });
    expect(Object.keys(body.data).sort()).toEqual(["content_type", "download_url", "expires_at"]);
  });

  test("a plan is found by either of its ids, with its text", async () => {
    const runId = await createRun(harness);
    const plan: ArtifactBody = { type: "PLAN", documentUid: "plan-of-ada", title: "The plan" };
    const uid = await make(runId, plan, Buffer.from("1. Measure"));

    const byUid = await call(harness, `${AGENT}/artifacts/${uid}`);
    const byDocument = await call(harness, `${AGENT}/artifacts/plan-of-ada`);

    expect(byUid.body).toEqual({
      artifact_uid: uid,
      artifact_type: "PLAN",
      created_at: expect.any(String),
      data: {
        content: "1. Measure",
        content_type: "text/markdown",
        document_uid: "plan-of-ada",
        notebook_uid: "plan-of-ada",
        title: "The plan",
      },
    });
    expect(byDocument.body).toEqual(byUid.body);
  });

  test("a plan of a run that the caller cannot see is unknown", async () => {
    const key = await harness.addUser("reader");
    const runId = await createRun(harness, { team: false });
    await make(runId, { type: "PLAN", documentUid: "hidden-plan" });

    expect((await call(harness, `${AGENT}/artifacts/hidden-plan`, { key })).status).toBe(404);
  });

  test("other kinds are unknown here", async () => {
    const runId = await createRun(harness);
    const uids = [
      await make(runId, { type: "PULL_REQUEST", url: "https://x/pull/2", branch: "b" }),
      await make(runId, { type: "EXTERNAL_REFERENCE", referenceType: "ticket", url: "https://x/2" }),
    ];

    for (const uid of uids) {
      expect((await call(harness, `${AGENT}/artifacts/${uid}`)).status).toBe(404);
    }
  });
});

describe("the files of the last ended turn", () => {
  test("the files of the last ended turn are listed, and those of earlier turns are not", async () => {
    const runId = await createRun(harness);
    const handoff = async () => (await call(harness, `${AGENT}/runs/${runId}/handoff/attachments`)).body;
    expect(await handoff()).toEqual({ attachments: [] });
    await harness.edit(runId, (edit) => edit.set({ turn: 1 }));
    await make(runId, fileAt("artifacts/old.md", "text/markdown"), Buffer.from("old"));
    await harness.edit(runId, (edit) => edit.set({ turn: 2 }));
    const uid = await make(runId, fileAt("changes/widgets/all.diff", "text/x-diff"), Buffer.from("diff"));
    await make(runId, { type: "PULL_REQUEST", url: "https://x/pull/3", branch: "b" });
    await harness.edit(runId, (edit) => edit.set({ turn: 3, turnOpen: true }));

    const { attachments } = await handoff();

    expect(attachments).toEqual([
      {
        attachment_id: uid,
        filename: "all.diff",
        mime_type: "text/x-diff",
        download_url: expect.stringContaining(PUBLIC_URL),
      },
    ]);
    const { pathname, search } = new URL(attachments[0].download_url);
    expect(await (await fetch(new URL(pathname + search, harness.url))).text()).toBe("diff");
  });
});

describe("the pull request of a run", () => {
  test("the run has its stored state and checks, a list only their sum, and an earlier one's are not shown", async () => {
    const runId = await createRun(harness, { prompt: "Open one" });
    const url = "https://x/acme/widgets/pull/9";
    await make(runId, { type: "PULL_REQUEST", url, branch: "b" });
    const checks = [
      { name: "unit", state: "failed", url: "https://x/checks/1" },
      { name: "lint", state: "passed" },
      { name: "docs", state: "skipped" },
    ] as const;
    await harness.runs.setPullRequestStatus(runId as RunId, { url, state: "open", checks });
    const read = async () => (await call(harness, `${AGENT}/runs/${runId}`)).body.pull_request_status;
    const counts = { url, state: "open", checks: { total: 2, passed: 1, failed: 1 } };

    const listed = (await call(harness, `${AGENT}/runs?limit=1`)).body.runs[0];
    expect([await read(), listed.pull_request_status]).toEqual([{ ...counts, check_runs: checks }, counts]);

    await make(runId, { type: "PULL_REQUEST", url: "https://x/acme/widgets/pull/10", branch: "c" });
    expect(await read()).toBeUndefined();
  });
});

test("answers with a link that works without a key are not compressed", async () => {
  const runId = await createRun(harness);
  const uid = await make(runId, fileAt(`artifacts/${"a".repeat(1_200)}.txt`, "text/plain"), Buffer.from("a"));
  const { blobId, sizeBytes } = await stored(Buffer.from("diff --git a b"));
  const file = { path: "b".repeat(1_200), status: "added", additions: 1, deletions: 0 } as const;
  await harness.edit(runId, (edit) => {
    const changes = { owner: "acme", name: "widgets", turn: 1, base: "ba5e", blobId, sizeBytes };
    edit.setChanges([{ ...changes, files: [file], isTruncated: false }]);
  });
  const paths = [`/artifacts/${uid}`, `/runs/${runId}/handoff/attachments`, `/runs/${runId}/changes`];

  for (const path of paths) {
    const { headers, text } = await call(harness, `${AGENT}${path}`, {
      headers: { "accept-encoding": "br" },
    });

    expect(text).toMatch(/"(?:download|diff)_url"/);
    expect(text.length).toBeGreaterThan(1_000);
    expect(headers.get("content-encoding")).toBeNull();
  }
});

describe("the changes of a run", () => {
  test("the changes of a run are listed by repository, each with a URL of its diff", async () => {
    const runId = await createRun(harness);
    const url = `${AGENT}/runs/${runId}/changes`;
    expect((await call(harness, url)).body).toEqual({ turn: 0, repositories: [] });
    const { blobId, sizeBytes } = await stored(Buffer.from("diff --git a b"));
    const file = {
      path: "new.txt",
      oldPath: "old.txt",
      status: "renamed",
      additions: 1,
      deletions: 0,
    } as const;
    const binary = { path: "x.png", status: "added", additions: null, deletions: null } as const;
    const changes = { owner: "acme", turn: 2, base: "ba5e", blobId, sizeBytes, files: [file, binary] };
    await harness.edit(runId, (edit) => {
      edit.setChanges([
        {
          ...{ ...changes, name: "widgets", isTruncated: false },
          ...{ branch: "errand/1", head: "4ead", pullRequest: "https://x/pull/1" },
        },
        { ...changes, name: "tools", isTruncated: true, files: [] },
      ]);
    });

    const { body } = await call(harness, url);

    const renamed = { path: "new.txt", old_path: "old.txt", status: "renamed", additions: 1, deletions: 0 };
    expect(body).toEqual({
      turn: 2,
      repositories: [
        {
          ...{ repository: "acme/tools", base: "ba5e", head: null, files: [], truncated: true },
          diff_url: expect.stringContaining(PUBLIC_URL),
        },
        {
          ...{ repository: "acme/widgets", branch: "errand/1", base: "ba5e", head: "4ead" },
          ...{ pull_request: "https://x/pull/1", files: [renamed, binary] },
          diff_url: expect.stringContaining(PUBLIC_URL),
        },
      ],
    });
    const { pathname, search } = new URL(body.repositories[1].diff_url);
    const diff = await fetch(new URL(pathname + search, harness.url));
    expect(diff.headers.get("content-type")).toContain("text/x-diff");
    expect(await diff.text()).toBe("diff --git a b");
    const other = pathname.replace("widgets", "tools");
    expect((await fetch(new URL(other + search, harness.url))).status).toBe(403);
    harness.clock.aheadMs += 6 * 60_000;
    expect((await fetch(new URL(pathname + search, harness.url))).status).toBe(403);
    harness.clock.aheadMs = 0;
  });
});

describe("the file of an artifact", () => {
  test("an artifact file is downloaded completely, and browsers do not display it", async () => {
    const bytes = Buffer.from([0, 255, 60, 10]);
    const uid = await make(await createRun(harness), fileAt('artifacts/ä "x".html', "text/html"), bytes);

    const link = await call(harness, `${AGENT}/artifacts/${uid}/download`);
    const response = await fetch(new URL(link.headers.get("location") ?? "", harness.url));

    expect(link.status).toBe(302);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": expect.stringMatching(/^text\/html/),
      "content-length": "4",
      "content-disposition": `attachment; filename="_ _x_.html"; filename*=UTF-8''%C3%A4%20%22x%22.html`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
  });

  test("an artifact file is sent in chunks with the same bytes for any chunk size", async () => {
    const bytes = Buffer.alloc(3 * 2 ** 20 + 7, "piece after piece ");
    const uid = await make(await createRun(harness), fileAt("artifacts/long.txt", "text/plain"), bytes);
    const { headers } = await call(harness, `${AGENT}/artifacts/${uid}/download`);

    const response = await fetch(new URL(headers.get("location") ?? "", harness.url));

    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(response.headers.get("content-length")).toBe(String(bytes.length));
  });

  test("the same artifact id returns the newest version of the file", async () => {
    const runId = await createRun(harness);
    const body = fileAt("artifacts/a.txt", "text/plain");
    const uid = await make(runId, body, Buffer.from("one"));
    const before = await harness.storage.files.findArtifact(uid);
    const file = await stored(Buffer.from("two"));
    await harness.edit(runId, (edit) => edit.addArtifact({ key: "artifacts/a.txt", body, file }, before));

    expect((await download(uid)).text).toBe("two");
    expect((await call(harness, `${AGENT}/runs/${runId}`)).body.artifacts).toHaveLength(1);
  });

  test("a link to one artifact does not open another artifact of the same run", async () => {
    const runId = await createRun(harness);
    const one = await make(runId, fileAt("artifacts/1.txt", "text/plain"), Buffer.from("1"));
    const two = await make(runId, fileAt("artifacts/2.txt", "text/plain"), Buffer.from("2"));
    const { headers } = await call(harness, `${AGENT}/artifacts/${one}/download`);

    const stolen = (headers.get("location") ?? "").replace(one, two);

    expect((await call(harness, stolen, { key: null })).status).toBe(403);
  });

  test("an artifact that is not a file has no file to download", async () => {
    const uid = await make(await createRun(harness), { type: "PLAN", documentUid: "d" });

    expect((await call(harness, `${AGENT}/artifacts/${uid}/download`)).status).toBe(404);
  });
});

describe("an artifact that the caller may not see", () => {
  test("an artifact of a private run, of another team or of no run is not found", async () => {
    const runId = await createRun(harness, { team: false });
    const uid = await make(runId, fileAt("artifacts/a.txt", "text/plain"), Buffer.from("1"));
    const eve = await harness.addUser("eve");
    const paths = [uid, `${uid}/download`, "x", "0195b2a8-4d2e-7f60-a1b2-c3d4e5f60718"];

    const answers = await Promise.all(
      paths.map((path) => call(harness, `${AGENT}/artifacts/${path}`, { key: eve })),
    );

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(new Set(answers.map(({ body }) => body.error)).size).toBe(1);
  });
});
