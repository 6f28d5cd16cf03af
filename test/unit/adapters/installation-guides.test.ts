import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readAdapters } from "../../../src/adapters/registry.ts";
import { BOT_SCOPES, manifestText, OPTIONAL_BOT_SCOPES } from "../../../src/adapters/slack/app-manifest.ts";
import type { GuideNeed, InstallationGuide } from "../../../src/core/model/people/installation.ts";

const PUBLIC_URL = "https://errand.example.com";
const LOCAL_URL = "http://127.0.0.1:8787";

async function guidesOf(publicUrl: string, env: Readonly<Record<string, string>> = {}) {
  const guides = await Promise.all(readAdapters(env).map(({ guide }) => guide(publicUrl)));
  const [slack, github] = guides as [InstallationGuide, InstallationGuide];
  return { slack, github };
}

const read = (file: string): Promise<string> =>
  readFile(resolve(import.meta.dirname, "../../..", file), "utf8");

function linkOf({ ways }: InstallationGuide, way: number, link = 0): URL {
  return new URL(ways[way]?.steps[0]?.links?.[link]?.url ?? "");
}

/** The rows of the tables of a page, without the spaces that align them. */
async function rowsOf(page: string): Promise<readonly string[]> {
  return (await read(page))
    .split("\n")
    .flatMap((line) => (line.startsWith("| ") ? line.replace(/ +/g, " ") : []));
}

function rowOf({ access, name, use }: GuideNeed): string {
  return `| \`${name}\` |${access === undefined ? "" : ` ${access} |`} ${use} |`;
}

describe("the guide for Slack", () => {
  test("it names the page that installs the app in workspaces, if the server is set up for that", async () => {
    const env = { SLACK_SIGNING_SECRET: "s", SLACK_BOT_TOKEN: "xoxb-1" };
    const oauth = { SLACK_CLIENT_ID: "1.2", SLACK_CLIENT_SECRET: "c" };

    expect((await guidesOf(PUBLIC_URL, env)).slack.installUrl).toBeUndefined();
    expect((await guidesOf(PUBLIC_URL, { ...env, ...oauth })).slack.installUrl).toBe(
      `${PUBLIC_URL}/setup/slack/install`,
    );
  });

  test("the link and the text have the same manifest, with the addresses of this server", async () => {
    const { slack } = await guidesOf(PUBLIC_URL);

    for (const [index, way] of slack.ways.entries()) {
      const [create] = way.steps;
      const inLink = JSON.parse(linkOf(slack, index).searchParams.get("manifest_json") ?? "");
      expect(parse(create?.snippets?.[0]?.text ?? "")).toEqual(inLink);
      expect(inLink.oauth_config.scopes.bot).toEqual(Object.keys({ ...BOT_SCOPES, ...OPTIONAL_BOT_SCOPES }));
    }
    const [http] = slack.ways;
    expect(http?.obstacle).toBeUndefined();
    expect(http?.steps[0]?.snippets?.[0]?.text.match(/https:.*/g)).toEqual([
      `${PUBLIC_URL}/webhooks/slack`,
      `${PUBLIC_URL}/signin/slack/callback`,
      `${PUBLIC_URL}/setup/slack/install/callback`,
      `${PUBLIC_URL}/webhooks/slack`,
      `${PUBLIC_URL}/webhooks/slack`,
      `${PUBLIC_URL}/webhooks/slack`,
    ]);
  });

  test("Socket Mode works without any address, and HTTP says that it does not", async () => {
    const { slack } = await guidesOf(LOCAL_URL);
    const [http, socket] = slack.ways;

    expect(http?.obstacle).toContain("ERRAND_PUBLIC_URL");
    expect(socket?.obstacle).toBeUndefined();
    expect(socket?.steps[0]?.snippets?.[0]?.text).not.toMatch(/http/);
    expect(socket?.steps[0]?.snippets?.[0]?.text).toContain("socket_mode_enabled: true");
  });

  test("the manifests and scopes of the documentation are those of the guide", async () => {
    const page = "docs/guides/slack.md";
    const { slack } = await guidesOf(PUBLIC_URL);
    const manifests = Array.from((await read(page)).matchAll(/```yaml\n([\s\S]*?)```/g), ([, text]) => text);

    expect(manifests).toEqual([manifestText(PUBLIC_URL, "http"), manifestText(LOCAL_URL, "socket")]);
    expect(await rowsOf(page)).toEqual(expect.arrayContaining(slack.needs.map(rowOf)));
  });
});

describe("the guide for GitHub", () => {
  test("the links fill in the form: address, permissions and events", async () => {
    const { github } = await guidesOf(PUBLIC_URL);
    const form = linkOf(github, 0).searchParams;
    const organization = decodeURIComponent(linkOf(github, 0, 1).pathname);

    expect(form.get("webhook_url")).toBe(`${PUBLIC_URL}/webhooks/github`);
    const needs = Map.groupBy(github.needs, ({ kind }) => kind);
    expect(needs.get("permission")?.map(({ name }) => form.get(name))).toEqual(
      needs.get("permission")?.map(({ access }) => access),
    );
    expect(form.getAll("events[]")).toEqual(needs.get("event")?.map(({ name }) => name));
    expect(organization).toBe("/organizations/{input}/settings/apps/new");
  });

  test("the links of an Enterprise Server lead to that server", async () => {
    const { github } = await guidesOf(PUBLIC_URL, { GITHUB_API_URL: "https://git.acme.test/api/v3" });

    expect(linkOf(github, 0).host).toBe("git.acme.test");
  });

  test("an address on this machine is an obstacle", async () => {
    const { github } = await guidesOf(LOCAL_URL);

    expect(github.ways[0]?.obstacle).toContain("ERRAND_PUBLIC_URL");
  });

  test("the permissions and events of the documentation are those of the guide", async () => {
    const { github } = await guidesOf(PUBLIC_URL);

    expect(await rowsOf("docs/guides/github.md")).toEqual(expect.arrayContaining(github.needs.map(rowOf)));
  });
});

test("a guide says whether its adapter is enabled", async () => {
  const { github, slack } = await guidesOf(PUBLIC_URL, {
    SLACK_BOT_TOKEN: "xoxb-1",
    SLACK_SIGNING_SECRET: "a signing secret",
  });

  expect([slack.enabled, github.enabled]).toEqual([true, false]);
});
