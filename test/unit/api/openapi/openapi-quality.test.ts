import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { beforeAll, describe, expect, test } from "vitest";
import { openapiDocument } from "../../../../scripts/openapi-document.ts";
import { AnswerJudge } from "../../../support/openapi-answers.ts";

const FILE = resolve(import.meta.dirname, "../../../../docs/openapi.json");
const METHODS = ["get", "post", "put", "patch", "delete"];

// biome-ignore lint/suspicious/noExplicitAny: the test reads any part of the document
type Anything = any;
let text: string;
let document: Anything;
beforeAll(async () => {
  text = await openapiDocument();
  document = JSON.parse(text);
});

function operations(): { readonly name: string; readonly operation: Anything }[] {
  return Object.entries<Anything>(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation: item[method],
    })),
  );
}

test("docs/openapi.json matches the routes (update it with npm run openapi)", async () => {
  const isSame = (await readFile(FILE, "utf8")) === text;

  expect(isSame).toBe(true);
});

describe("every operation", () => {
  test("each operation has a unique id, a summary and described tags", () => {
    const tags = document.tags.map(({ name, description }: Anything) => (description ? name : ""));
    const bad = operations().filter(
      ({ operation: { operationId, summary, tags: own = [] } }) =>
        !operationId || !summary || own.length === 0 || own.some((tag: string) => !tags.includes(tag)),
    );
    const ids = operations().map(({ operation }) => operation.operationId);

    expect(bad.map(({ name }) => name)).toEqual([]);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  test("each operation describes its input and its responses", () => {
    const bad = operations().flatMap(({ name, operation: { parameters = [], responses } }) => [
      ...parameters
        .filter((parameter: Anything) => !parameter.description && !isDescribed(parameter.schema))
        .map((parameter: Anything) => `${name}: ${parameter.name}`),
      ...Object.entries<Anything>(responses)
        .filter(([, answer]) => !answer.$ref && /^(Default Response)?$/.test(answer.description ?? ""))
        .map(([status]) => `${name}: ${status}`),
    ]);

    expect(bad).toEqual([]);
  });

  test("each parameter has a valid example", () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false });
    formats.default(ajv);
    ajv.addSchema(document, "https://errand.example/openapi.json");
    const accepts = (schema: Anything, example: unknown) => {
      const text = JSON.stringify(schema).replaceAll('"#/', '"https://errand.example/openapi.json#/');
      return ajv.validate(JSON.parse(text), example);
    };
    const bad = operations().flatMap(({ name, operation: { parameters = [] } }) =>
      parameters
        .filter(({ schema, example }: Anything) => example === undefined || !accepts(schema, example))
        .map((parameter: Anything) => `${name}: ${parameter.name}`),
    );

    expect(bad).toEqual([]);
  });

  test("each operation that writes accepts an Idempotency-Key", () => {
    const bad = operations()
      // An evaluation changes nothing, and an app is created once and updated by each repeat. The keys belong to
      // principals, which public operations do not know.
      .filter(({ name }) => !name.startsWith("GET") && !/\/evaluate$|\/\{adapter\}\/app$/.test(name))
      .filter(({ operation: { security } }) => security?.length !== 0)
      .filter(({ operation: { parameters = [] } }) =>
        parameters.every((parameter: Anything) => parameter.name !== "Idempotency-Key"),
      );

    expect(bad.map(({ name }) => name)).toEqual([]);
  });

  test("each operation lists the errors of its kind", () => {
    const bad = operations().flatMap(({ name, operation: { responses, security, parameters = [] } }) => {
      const isPublic = security?.length === 0;
      const hasKey = parameters.some((parameter: Anything) => parameter.name === "Idempotency-Key");
      const wanted = [
        ...["400", "429", "500", "503"],
        ...(name.startsWith("GET") ? [] : ["413", "415"]),
        ...(isPublic ? [] : ["401", "403"]),
        ...(name.includes("{") ? ["404"] : []),
        ...(hasKey ? ["409", "422"] : []),
      ];
      return wanted.filter((status) => !(status in responses)).map((status) => `${name}: ${status}`);
    });

    expect(bad).toEqual([]);
  });
});

test("page sizes are documented and metadata is bounded", () => {
  // A conversation is whole without a limit.
  const paged = operations().filter(({ operation }) => !/Conversation$/.test(operation.operationId));
  const parameters = paged.flatMap(({ operation }) => operation.parameters ?? []);
  const schemasOf = (name: string) =>
    parameters.filter((parameter: Anything) => parameter.name === name).map(({ schema }: Anything) => schema);

  const unsaid = parameters.filter(
    ({ description, name, schema }: Anything) =>
      name === "limit" && schema.default === undefined && !/Default: all/.test(description),
  );
  expect(unsaid).toEqual([]);
  expect(schemasOf("metadata").map((schema: Anything) => schema.maxProperties)).toEqual([5, 5]);
  const { metadata } = document.components.schemas.RunAgentRequest.properties;
  expect(metadata).toMatchObject({ maxProperties: 20, description: expect.stringContaining("256 bytes") });
});

describe("every schema", () => {
  test("each schema describes all its members", () => {
    const places = [
      ...Object.entries<Anything>(document.components.schemas),
      ...operations().map(({ name, operation }) => [name, operation.responses] as const),
      ...operations().map(({ name, operation }) => [name, operation.requestBody] as const),
    ];

    expect(places.flatMap(([name, schema]) => undescribed(schema, name))).toEqual([]);
  });

  test("each named schema has a description and valid examples", () => {
    const judge = new AnswerJudge(document);
    const roots = new Set(JSON.stringify(document.paths).match(/(?<="#\/components\/schemas\/)[^"]+/g));
    const bad = Object.entries<Anything>(document.components.schemas).flatMap(
      ([name, { description, examples = [] }]) => [
        ...(description ? [] : [`${name} has no description`]),
        ...(examples.length > 0 || !roots.has(name) ? [] : [`${name} has no example`]),
        ...examples.flatMap((example: unknown) => judge.judgeNamed(name, example) ?? []),
      ],
    );

    expect(bad).toEqual([]);
  });

  test("each object and each variant of a union has a name, so that generated types have one", () => {
    const places = schemasIn(document).filter(({ path, schema }) => {
      const isVariant = /\/(?:anyOf|oneOf|allOf)\/\d+$/.test(path) && schema.type !== "null" && !schema.$ref;
      const isInner = !/^\/components\/schemas\/[^/]+$/.test(path) && schema.properties !== undefined;
      return isInner || (isVariant && (schema.enum !== undefined || schema.type === "object"));
    });

    expect(places.map(({ path }) => path)).toEqual([]);
  });

  test("each union of objects with a tag has a discriminator that names every known variant", () => {
    const unions = schemasIn(document).flatMap(({ path, schema }) => {
      const variants = (schema.oneOf ?? schema.anyOf ?? []).map(({ $ref }: Anything) => $ref).filter(Boolean);
      return variants.length > 1 ? [{ name: path.split("/").at(-1), variants, ...schema.discriminator }] : [];
    });

    expect(unions.map(({ name, propertyName }) => [name, propertyName])).toEqual(
      expect.arrayContaining([
        ["ArtifactItem", "artifact_type"],
        ["ContentBlock", "type"],
        ["MCPServerConfig", undefined],
        ["RunEvent", "kind"],
        ["ToolContent", "type"],
      ]),
    );
    for (const { propertyName, mapping = {}, variants } of unions) {
      const tags = variants.flatMap((reference: string) => {
        const tag = schemaAt(reference).properties[propertyName]?.const;
        return tag === undefined ? [] : [[tag, reference]];
      });
      expect(mapping).toEqual(Object.fromEntries(tags));
    }
  });

  test("each member has a name in snake_case", () => {
    const names = schemasIn(document).flatMap(({ schema }) => Object.keys(schema.properties ?? {}));

    expect(names.filter((name) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  test("each reference names a schema of the document", () => {
    const references = text.match(/(?<=#\/components\/schemas\/)[^"]+/g) ?? [];

    expect(references.filter((name) => document.components.schemas[name] === undefined)).toEqual([]);
  });
});

test("event streams are described: one message, its id, and how to resume", () => {
  const streams = operations().filter(
    ({ operation }) => operation.responses[200]?.content?.["text/event-stream"],
  );

  expect(streams.map(({ name }) => name)).toEqual([
    "GET /api/v1/agent/events",
    "GET /api/v1/agent/runs/{runId}/events",
  ]);
  for (const { operation } of streams) {
    const { content } = operation.responses[200];
    const message = schemaAt(content["text/event-stream"].schema["x-item-schema"].$ref);
    // Generated clients take the first type, and only a page is a value.
    expect(Object.keys(content)).toEqual(["application/json", "text/event-stream"]);
    expect(message.properties.id.description).toContain("Last-Event-ID");
    expect(message.properties.data.contentSchema.anyOf).toContainEqual({
      $ref: "#/components/schemas/RunEvent",
    });
    expect(operation.parameters.map(({ name }: Anything) => name)).toContain("Last-Event-ID");
  }
});

test("the OpenAPI document does not depend on the address of the server", () => {
  expect(document.servers).toEqual([{ url: "/", description: "This server." }]);
  expect(text).not.toMatch(/127\.0\.0\.1|localhost/);
});

interface Place {
  readonly path: string;
  readonly schema: Anything;
}

/** Every object of the document that may be a schema. Examples are data. */
function schemasIn(value: Anything, path = ""): Place[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  const inner = Object.entries(value).filter(([name]) => !/^examples?$|^contentSchema$/.test(name));
  const isMap = path.endsWith("/properties");
  return [
    ...(Array.isArray(value) || isMap ? [] : [{ path, schema: value }]),
    ...inner.flatMap(([name, member]) => schemasIn(member, `${path}/${name}`)),
  ];
}

function schemaAt(reference: string): Anything {
  return document.components.schemas[reference.split("/").at(-1) ?? ""];
}

/** Returns the paths of members without a description, neither their own nor that of the schema they refer to. */
function undescribed(schema: Anything, path: string): string[] {
  if (typeof schema !== "object" || schema === null) {
    return [];
  }
  return Object.entries<Anything>(schema).flatMap(([name, member]) => {
    if (name === "examples") {
      return [];
    }
    if (name !== "properties") {
      return undescribed(member, Array.isArray(schema) ? path : `${path}/${name}`);
    }
    return Object.entries<Anything>(member).flatMap(([property, value]) => [
      ...(isDescribed(value) ? [] : [`${path}/${property}`]),
      ...undescribed(value, `${path}/${property}`),
    ]);
  });
}

/** A constant needs no description. */
function isDescribed(schema: Anything): boolean {
  if (schema.const !== undefined) {
    return true;
  }
  const target = schema.$ref ? document.components.schemas[schema.$ref.split("/").at(-1)] : undefined;
  return Boolean(schema.description || target?.description);
}
