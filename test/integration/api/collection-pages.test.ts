import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiDocument, JsonSchema } from "../../support/openapi-operations.ts";
import { resolved } from "../../support/openapi-operations.ts";
import { call } from "./api-caller.ts";
import { type AuthorizationHarness, startAuthorizationHarness } from "./authorization-harness.ts";

/** Lists of the document that have no pages. */
const WITHOUT_PAGES: Readonly<Record<string, string>> = {
  getConversation: "goes back from its end with `before`",
  getDoctor: "the checks of the server",
  getEgressRanges: "a setting of the server",
  getEvents: "a log, read with `after`",
  getRunChanges: "the repositories of one workspace",
  getRunConversation: "goes back from its end with `before`",
  getRunEvents: "a log, read with `after` and `before`",
  getRunTimeline: "is streamed as a whole, in the shape of the public client",
  getUsage: "bounded by its time",
  getWebhookDelivery: "the tries of one delivery",
  listCatalogue: "the agents of the server",
  listConnectedWorkers: "the workers of the server",
  listHandoffAttachments: "the files of one turn, in the shape of the public client",
  listInstallationGuides: "the platforms of the server",
  listModels: "the models of the server",
  listQuotas: "one of each kind",
  whoami: "the scopes of one key",
};

interface Listed {
  readonly operationId: string;
  readonly path: string;
  readonly members: readonly string[];
  readonly hasPages: boolean;
}

let harness: AuthorizationHarness;
let lists: readonly Listed[];
beforeAll(async () => {
  harness = await startAuthorizationHarness();
  lists = listsOf(harness.harness.server.swagger() as unknown as ApiDocument);
});
afterAll(() => harness.close());

function listsOf(document: ApiDocument): readonly Listed[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    const operation = get as unknown as
      | {
          readonly operationId: string;
          readonly parameters?: readonly { readonly name: string }[];
          readonly responses: Readonly<Record<string, { content?: Record<string, { schema?: JsonSchema }> }>>;
        }
      | undefined;
    const schema = operation?.responses["200"]?.content?.["application/json"]?.schema;
    const properties = schema === undefined ? {} : (resolved(schema, document).properties ?? {});
    const members = Object.entries(properties).flatMap(([name, { type }]) =>
      type === "array" ? [name] : [],
    );
    const names = (operation?.parameters ?? []).map(({ name }) => name);
    const hasPages = ["limit", "cursor"].every((name) => names.includes(name)) && "page_info" in properties;
    const isOfOne = path.endsWith("}") && !/Conversation|Delivery/.test(operation?.operationId ?? "");
    return operation === undefined || members.length === 0 || isOfOne
      ? []
      : [{ operationId: operation.operationId, path, members, hasPages }];
  });
}

test("each list in the OpenAPI document has pages, or a reason why not", () => {
  const without = lists.filter(({ hasPages }) => !hasPages).map(({ operationId }) => operationId);

  expect(without.sort()).toEqual(Object.keys(WITHOUT_PAGES).sort());
});

/** How the test makes three entries, and where they are listed. */
const MADE: Readonly<Record<string, readonly [list: string, member: string, made: string]>> = {
  environments: ["/agent/environments", "environments", "/agent/environments/:uid"],
  "identity links": ["/agent/identity-links", "links", "/agent/identity-links/:linkId"],
  installations: ["/agent/installations", "installations", "/agent/installations/:installationId"],
  keys: ["/agent/keys", "keys", "/agent/keys/:keyId"],
  "MCP servers": ["/agent/mcp-servers", "mcp_servers", "/agent/mcp-servers/:uid"],
  "named agents": ["/agent/identities", "agents", "/agent/identities/:uid"],
  policies: ["/agent/policies", "policies", "/agent/policies/:policyId"],
  principals: ["/agent/principals", "principals", "/agent/principals/:uid"],
  "routing rules": ["/agent/routing-rules", "routing_rules", "/agent/routing-rules/:ruleId"],
  schedules: ["/agent/schedules", "schedules", "/agent/schedules/:scheduleId"],
  secrets: ["/agent/secrets", "secrets", "/agent/secrets/:name"],
  "sign-ins": ["/agent/sign-ins", "sign_ins", "/agent/sign-ins/:signInId"],
  webhooks: ["/agent/webhooks", "webhooks", "/agent/webhooks/:webhookId"],
};

type Entry = Readonly<Record<string, unknown>>;

async function read(path: string, query: Readonly<Record<string, string>> = {}) {
  const address = `/api/v1${path}?${new URLSearchParams(query)}`;
  return call(harness.harness, address, { key: harness.admin.key });
}

describe("a collection", () => {
  test.each(Object.entries(MADE))("of %s is read page by page, each entry once", async (_name, place) => {
    const [list, member, made] = place;
    for (let count = 0; count < 3; count += 1) {
      await harness.objects.fill(made, harness.admin);
    }
    const whole = (await read(list)).body;
    const entries: Entry[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { body } = await read(list, { limit: "2", ...(cursor === undefined ? {} : { cursor }) });
      entries.push(...body[member]);
      cursor = body.page_info.next_cursor;
      pages += 1;
      expect(body.page_info.has_next_page).toBe(cursor !== undefined);
    } while (cursor !== undefined);

    expect(whole.page_info).toEqual({ has_next_page: false });
    expect(whole[member].length).toBeGreaterThan(2);
    expect(pages).toBe(Math.ceil(whole[member].length / 2));
    expect(entries).toEqual(whole[member]);
  });

  test("a page begins in the right place although the entry before it was deleted", async () => {
    const list = "/agent/schedules";
    const whole = (await read(list)).body.schedules as readonly { readonly id: string }[];
    const { next_cursor: cursor } = (await read(list, { limit: "1" })).body.page_info;
    await call(harness.harness, `/api/v1${list}/${whole[0]?.id}`, {
      method: "DELETE",
      key: harness.admin.key,
    });

    const behind = (await read(list, { cursor })).body;

    expect(behind.schedules.map(({ id }: { id: string }) => id)).toEqual(whole.slice(1).map(({ id }) => id));
  });

  test("a cursor of another list, another filter or another caller is refused", async () => {
    const { next_cursor: cursor } = (await read("/agent/environments", { limit: "1" })).body.page_info;
    const answers = [
      await read("/agent/policies", { cursor }),
      await read("/agent/environments", { cursor, sort_by: "name" }),
      await read("/agent/environments", { cursor: `${cursor}x` }),
      await call(harness.harness, `/api/v1/agent/environments?cursor=${cursor}`, { key: harness.member.key }),
      await read("/agent/environments", { limit: "0" }),
      await read("/agent/environments", { limit: "501" }),
    ];

    expect(answers.map(({ status, body }) => [status, body.issues[0].path])).toEqual([
      ...Array(4).fill([400, "cursor"]),
      [400, "limit"],
      [400, "limit"],
    ]);
  });
});
