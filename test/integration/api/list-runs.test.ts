import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const RUNS = "/api/v1/agent/runs";
const NOBODY = "00000000-0000-7000-8000-000000000000";

async function idsOf(query: string): Promise<string[]> {
  const answer = await call(harness, `${RUNS}?${query}`);
  if (answer.status !== 200) {
    throw new Error(answer.text);
  }
  return answer.body.runs.map(({ run_id }: { run_id: string }) => run_id);
}

describe("filters of the list of runs", () => {
  test("each filter finds the matching run and not the other", async () => {
    const config = { name: "nightly", model_id: "m1" };
    const metadata = { team: "a.b", "x-y": "1" };
    const one = await createRun(
      harness,
      { prompt: "needle one", config, metadata },
      { headers: { "x-run-source": "LOCAL" } },
    );
    const other = await createRun(harness, { prompt: "needle other", metadata: { team: "a.b" } });
    await harness.runs.cancel(one as never, await me());
    const uid = (await call(harness, `${RUNS}/${one}`)).body.creator.uid;
    const created = (await call(harness, `${RUNS}/${one}`)).body.created_at;
    const both = [other, one];

    const expected: [string, string[]][] = [
      ["q=NEEDLE&sort_by=created_at", both],
      ["q=needle&name=nightly", [one]],
      ["q=+needle++NEEDL&name=nightly", [one]],
      ["q=needle&config_name=nightly", [one]],
      ["q=needle&name=&model_id=m1", [one]],
      ["q=needle&source=LOCAL", [one]],
      ["q=needle&execution_location=REMOTE&sort_by=created_at", both],
      ["q=needle&execution_location=LOCAL", []],
      ["q=needle&source=FROM_THE_FUTURE", []],
      ["q=needle&name=nightly&config_name=nightly", [one]],
      ["q=needle&name=nightly&config_name=other", []],
      ["q=needle&state=CANCELLED", [one]],
      ["q=needle&state[]=CANCELLED", [one]],
      ["q=needle&state%5B%5D=CANCELLED&state[]=QUEUED&sort_by=created_at", both],
      ["q=needle&state=QUEUED&state[]=CANCELLED&sort_by=created_at", both],
      ["q=needle&state=QUEUED&state=CANCELLED&sort_by=created_at", both],
      ["q=needle&metadata[team]=a.b&metadata%5Bx-y%5D=1", [one]],
      [`q=needle&sort_by=created_at&creator=${uid.toUpperCase()}`, both],
      [`q=needle&creator=${NOBODY}`, []],
      ["q=needle&creator=nobody", []],
      ["q=needle&ancestor_run_id=nobody", []],
      ["q=needle&schedule_id=nobody", []],
      ["q=needle&skill=o/r:x", []],
      ["q=needle&environment_id=empty-environment&sort_by=created_at", both],
      ["q=needle&environment_id=abcdefghijklmnopqrstuv", []],
      ["q=needle&artifact_type=PULL_REQUEST", []],
      [`q=needle&created_after=${created}`, [other]],
      [`q=needle&created_before=${encodeURIComponent("2020-01-01T00:00:00.123456+02:00")}`, []],
      ["q=needle&updated_after=2020-01-01T00:00:00Z&sort_by=created_at", both],
      ["q=needle&updated_after=2020-01-01t00:00:00.5z&sort_by=created_at", both],
      ["q=needle&from_the_future=1&sort_by=created_at", both],
      ["q=needle&sort_by=created_at&sort_order=asc", [one, other]],
    ];
    for (const [query, ids] of expected) {
      expect([query, await idsOf(query)]).toEqual([query, ids]);
    }
  });

  test("the filter by ancestor finds child runs at any depth", async () => {
    const top = await createRun(harness);
    const middle = await createRun(harness, { parent_run_id: top });
    const bottom = await createRun(harness, { parent_run_id: middle });

    expect(await idsOf(`ancestor_run_id=${top}&sort_by=created_at`)).toEqual([bottom, middle]);
  });

  test.each([
    "limit=0",
    "limit=501",
    "limit=-1",
    "limit=1e2",
    "limit=abc",
    "limit=1&limit=2",
    "limit=1.5",
    "sort_by=color",
    "sort_order=up",
    "state=DONE",
    "state=QUEUED&state=DONE",
    "state[]=DONE",
    "metadata=x&metadata[a]=b",
    "created_after=yesterday",
    "created_after=2026-02-30T00:00:00Z",
    "created_after=2026-01-01",
    "created_before=0000-01-01T00:00:00Z",
    "execution_location=MOON",
    "name=a&name=b",
    "q=a%00b",
    "metadata=x",
    // Pairs are stored as `a=b=c`, so this would find runs with `b=c` as the value of `a`.
    "metadata[a%3Db]=c",
    // A filter that is dropped would find the runs of all creators.
    "metadata[__proto__]=x",
    "metadata[a]=b&metadata%5B__proto__%5D=x",
    `q=${Array.from({ length: 33 }, (_, n) => `w${n}`).join("+")}`,
    [1, 2, 3, 4, 5, 6].map((n) => `metadata[k${n}]=v`).join("&"),
  ])("the filter %s is invalid", async (query) => {
    const answer = await call(harness, `${RUNS}?${query}`);

    expect([answer.status, answer.body.code, answer.body.issues.length]).toEqual([400, "invalid_request", 1]);
  });

  test("1 and 500 are valid limits, and an empty limit means the default", async () => {
    for (const limit of ["1", "500", ""]) {
      expect((await call(harness, `${RUNS}?limit=${limit}`)).status).toBe(200);
    }
  });
});

describe("pagination by cursor", () => {
  test("pagination returns each run once while new runs arrive, also runs of the same moment", async () => {
    const at = harness.clock.now();
    harness.clock.aheadMs = 0;
    const ids = await Promise.all(
      Array.from({ length: 25 }, (_, n) => createRun(harness, { title: `walk ${n % 3}` })),
    );

    for (const sort of ["created_at", "title", "agent"]) {
      for (const order of ["asc", "desc"]) {
        const seen = await walk(
          `q=walk&sort_by=${sort}&sort_order=${order}&limit=4&created_after=${before(at)}`,
        );
        expect(new Set(seen).size).toBe(seen.length);
        expect(new Set(seen)).toEqual(new Set([...seen, ...ids]));
      }
    }
  });

  test("a cursor is refused if it is damaged, of another caller, or for another sort or filter", async () => {
    const ann = await harness.addUser("ann");
    const query = "sort_by=title&limit=1&state=QUEUED";
    const { next_cursor: cursor } = (await call(harness, `${RUNS}?${query}`)).body.page_info;
    const statusOf = async (text: string, key = harness.key) => {
      const { status, body } = await call(harness, `${RUNS}?${text}`, { key });
      return [status, body.code];
    };

    expect(await statusOf(`${query}&cursor=${cursor}`)).toEqual([200, undefined]);
    expect(await statusOf(`limit=7&sort_by=title&state=QUEUED&cursor=${cursor}`)).toEqual([200, undefined]);
    const refused = [
      `sort_by=created_at&limit=1&state=QUEUED&cursor=${cursor}`,
      `sort_order=asc&${query}&cursor=${cursor}`,
      `sort_by=title&limit=1&state=FAILED&cursor=${cursor}`,
      `${query}&q=x&cursor=${cursor}`,
      `${query}&cursor=x${cursor}`,
      `${query}&cursor=${cursor}x`,
      `${query}&cursor=${cursor}.junk`,
      `${query}&cursor=${cursor}.`,
      `${query}&cursor=abc`,
      `${query}&cursor=.`,
      `creator=nobody&cursor=abc`,
    ];
    for (const text of refused) {
      expect([text, await statusOf(text)]).toEqual([text, [400, "invalid_request"]]);
    }
    expect(await statusOf(`${query}&cursor=${cursor}`, ann)).toEqual([400, "invalid_request"]);
  });
});

test("a private run is not in the list of a colleague", async () => {
  const [ann, ben] = [await harness.addUser("ann3"), await harness.addUser("ben3")];
  const id = await createRun(harness, { prompt: "secret plan", team: false }, { key: ann });
  const listFor = async (key: string) => (await call(harness, `${RUNS}?q=secret`, { key })).body.runs.length;

  expect(await Promise.all([listFor(ann), listFor(harness.key), listFor(ben)])).toEqual([1, 1, 0]);
  expect((await call(harness, "/api/v1/agent/tasks?q=secret")).body.runs[0].run_id).toBe(id);
});

async function walk(query: string): Promise<string[]> {
  const seen: string[] = [];
  let cursor = "";
  do {
    const { body } = await call(harness, `${RUNS}?${query}${cursor}`);
    seen.push(...body.runs.map(({ run_id }: { run_id: string }) => run_id));
    await createRun(harness, { title: "walk late" });
    cursor = body.page_info.has_next_page ? `&cursor=${encodeURIComponent(body.page_info.next_cursor)}` : "";
  } while (cursor !== "" && seen.length < 200);
  return seen;
}

function before(at: Date): string {
  return new Date(at.getTime() - 1).toISOString();
}

async function me() {
  const [run] = (await call(harness, `${RUNS}?limit=1`)).body.runs;
  const [principal] = await harness.storage.people.getMany([run.creator.uid]);
  if (principal === undefined) {
    throw new Error("Nobody is there.");
  }
  return principal;
}

describe("the filter by repository", () => {
  test("a run is found by its own repository, however the repository is written", async () => {
    const own = await createRun(harness, { config: { repository: "Acme/App.web" } });
    await createRun(harness, { config: { repository: "acme/app" } });

    const spellings = ["Acme/App.web", "acme/app.WEB", "acme/app.web.git", "https://github.com/ACME/app.web"];
    const others = ["git@github.com:acme/app.web.git", "ssh://git@github.com/acme/app.web.git"];
    const pages = ["github.com/acme/app.web/", "https://git.example.com:8443/acme/app.web/pull/7"];
    for (const spelling of [...spellings, ...others, ...pages]) {
      expect([spelling, await idsOf(`repository=${encodeURIComponent(spelling)}`)]).toEqual([
        spelling,
        [own],
      ]);
    }
    for (const unknown of [
      "app.web",
      "acme",
      "acme/app.web/more",
      "a b/c",
      "acme/app.we",
      "/",
      "https://x",
    ]) {
      expect([unknown, await idsOf(`repository=${encodeURIComponent(unknown)}`)]).toEqual([unknown, []]);
    }
  });

  test("a run is found by each repository that its environment had when the run was created", async () => {
    const github_repos = [
      { owner: "Acme", repo: "One" },
      { owner: "acme", repo: "two" },
    ];
    const config = { name: "Both", github_repos };
    const { body } = await call(harness, "/api/v1/agent/environments", { body: { config } });
    const id = await createRun(harness, { config: { environment_id: body.uid } });
    const changed = { config: { ...config, github_repos: [{ owner: "acme", repo: "three" }] } };
    await call(harness, `/api/v1/agent/environments/${body.uid}`, { method: "PUT", body: changed });

    const found = await Promise.all(["one", "two", "three"].map((name) => idsOf(`repository=acme/${name}`)));

    expect(found).toEqual([[id], [id], []]);
  });
});

describe("words with a typing mistake", () => {
  test.each([
    ["depoly", "deploy"],
    ["DEPOLY", "Deploy"],
    ["tset", "test"],
    ["edploy", "deploy"],
    ["deplyo", "deploy"],
    ["bulid+pipleine", "build pipeline"],
    ["recepits", "receipts"],
    ["authetnication", "authentication"],
  ])("two letters in the wrong order: %s finds %s", async (words, text) => {
    const mark = `m${Math.random().toString(36).slice(2, 10)}`;
    const id = await createRun(harness, { prompt: `${mark} ${text}` });

    expect(await idsOf(`q=${mark}+${words}`)).toEqual([id]);
    expect(await idsOf(`q=${mark}+xqzy`)).toEqual([]);
  });

  test("runs are found by similar words when no run has the exact ones, on every page", async () => {
    const first = await createRun(harness, { prompt: "Repair the zeppelin hangar" });
    const second = await createRun(harness, { prompt: "Paint the zeppelin hangar" });

    for (const words of [
      "zepelin",
      "ezppelin",
      "zepplein",
      "zepppelin",
      "zeppelim",
      "zeppelin+hangxr",
      "the+zepelin",
    ]) {
      expect(await idsOf(`q=${words}&sort_by=created_at`), words).toEqual([second, first]);
    }
    const page = await call(harness, `${RUNS}?q=zepelin&sort_by=created_at&limit=1`);
    const next = `${RUNS}?q=zepelin&sort_by=created_at&limit=1&cursor=${page.body.page_info.next_cursor}`;
    const rest = await call(harness, next);
    expect([...page.body.runs, ...rest.body.runs].map(({ run_id }) => run_id)).toEqual([second, first]);
    expect(rest.body.page_info).toEqual({ has_next_page: false });
  });

  test("exact words exclude similar ones, other filters still hold, and a short word must be exact", async () => {
    await createRun(harness, { prompt: "Polish the gasworkz" });
    const exact = await createRun(harness, { prompt: "Visit the gasworks" });

    expect(await idsOf("q=gasworks")).toEqual([exact]);
    expect(await idsOf("q=gaswroks&name=unknown")).toEqual([]);
    expect(await idsOf("q=gxs+gasworks")).toEqual([]);
  });
});
