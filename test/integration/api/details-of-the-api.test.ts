import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

/** What the section "Details that clients notice" of docs/api.md says. */
const RUNS = "/api/v1/agent/runs";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function send(body: string): Promise<Response> {
  return fetch(`${harness.url}/api/v1/agent/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${harness.key}`, "content-type": "application/json" },
    body,
  });
}

describe("numbers in members that the server does not know", () => {
  test.each([
    ["9007199254740993", "9007199254740992"],
    ["-0", "0"],
    ["0.10", "0.1"],
    ["1e3", "1000"],
  ])("%s comes back as %s", async (sent, kept) => {
    const created = await send(`{"prompt":"x","config":{"future":{"n":${sent}}}}`);
    const { run_id: id } = (await created.json()) as { run_id: string };

    const answer = await fetch(`${harness.url}${RUNS}/${id}`, {
      headers: { authorization: `Bearer ${harness.key}` },
    });

    expect(await answer.text()).toContain(`"future":{"n":${kept}}`);
  });

  test("1e400 comes back as null", async () => {
    const created = await send(`{"prompt":"x","config":{"future":{"n":1e400}}}`);
    const { run_id: id } = (await created.json()) as { run_id: string };

    expect((await call(harness, `${RUNS}/${id}`)).body.agent_config.future).toEqual({ n: null });
  });
});

test("a name is compared as it is written, and q finds both ways to write é", async () => {
  const [composed, decomposed] = ["caf\u00e9-details", "cafe\u0301-details"];
  const id = await createRun(harness, { prompt: `look at ${decomposed}`, config: { name: composed } });
  const found = async (query: string) =>
    (await call(harness, `${RUNS}?${query}`)).body.runs.map(({ run_id }: { run_id: string }) => run_id);

  expect(await found(`name=${encodeURIComponent(composed)}`)).toEqual([id]);
  expect(await found(`name=${encodeURIComponent(decomposed)}`)).toEqual([]);
  expect(await found(`q=${encodeURIComponent(composed)}`)).toEqual([id]);
});

test("a body with more than 128 KiB outside of its texts is refused, also if they are spaces", async () => {
  const answer = await send(`{"prompt":"x"${" ".repeat(2 ** 17)}}`);

  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("must have at most 131072 bytes outside of texts");
});

test("each DELETE has one success, each other operation too, and only downloads are redirects", async () => {
  const { paths } = JSON.parse(await readFile("docs/openapi.json", "utf8")) as {
    paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      path,
      method,
      codes: Object.keys(responses),
    })),
  );
  const successes = (codes: readonly string[]) => codes.filter((code) => code.startsWith("2"));

  const deletes = operations.filter(({ method }) => method === "delete");
  expect(
    deletes.flatMap(({ codes }) => successes(codes)).filter((code) => code !== "200" && code !== "204"),
  ).toEqual([]);
  expect(deletes.filter(({ codes }) => successes(codes).length !== 1)).toEqual([]);
  const others = operations.filter(({ codes }) => successes(codes).length === 0);
  expect(
    others.filter(({ codes, path }) => !codes.includes("302") || !/\/(?:download|transcript)$/.test(path)),
  ).toEqual([]);
});
