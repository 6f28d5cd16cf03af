import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";

/** A JSON object of the OpenAPI document. */
interface Json {
  readonly [member: string]: unknown;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: Json;
}

const HEADER = "// Written by `npm run client:types` from docs/openapi.json. Do not edit.\n\n";
/** With this member, whose `kind` is any text, TypeScript could not narrow `RunEvent` by its `kind`. */
const NOT_IN_UNIONS = "#/components/schemas/UnknownRunEvent";

/** The types of the TypeScript client: one per schema of the document, and one per operation with a query. */
export async function clientTypes(document: Document): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "errand-types-"));
  try {
    await createClient({
      // The generator changes its input.
      input: structuredClone(schemasOnly(document)),
      output: folder,
      plugins: [{ name: "@hey-api/typescript", case: "preserve" }],
      logs: { level: "silent", file: false },
    });
    return HEADER + tidy(await readFile(join(folder, "types.gen.ts"), "utf8"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The operations are left out, because the methods of the client are written by hand. */
function schemasOnly({ paths, components: { schemas } }: Document): Record<string, unknown> {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const queries = operations.filter(({ deprecated }) => deprecated !== true).flatMap(queryOf);
  const tidied = Object.entries(schemas).map(([name, schema]) => [name, withoutDiscriminator(schema)]);
  return {
    openapi: "3.1.0",
    info: { title: "Errand", version: "1" },
    paths: {},
    components: { schemas: Object.fromEntries([...tidied, ...queries]) },
  };
}

/** `listRuns` with query parameters results in the schema `ListRunsQuery`. */
function queryOf({ operationId, parameters = [] }: Operation): (readonly [string, Json])[] {
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  // Signed addresses are given by the server, never put together by a caller.
  if (inQuery.length === 0 || inQuery.some(({ name }) => name === "signature")) {
    return [];
  }
  const schemaName = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;
  const properties = Object.fromEntries(
    inQuery.map(({ name, schema, description }) => [name, { ...asBoolean(schema), description }]),
  );
  return [
    [
      schemaName,
      { type: "object", description: `The query of the operation \`${operationId}\`.`, properties },
    ],
  ];
}

/** A query contains only text. In TypeScript, `true` is easier to write than `"true"`. */
function asBoolean(schema: Json): Json {
  return JSON.stringify(schema.enum) === '["true","false"]' ? { type: "boolean" } : schema;
}

/** The variants have constant tags, so that TypeScript needs no further hint. */
function withoutDiscriminator({ discriminator: _, ...schema }: Json): Json {
  if (!Array.isArray(schema.anyOf)) {
    return schema;
  }
  return { ...schema, anyOf: schema.anyOf.filter(({ $ref }: Json) => $ref !== NOT_IN_UNIONS) };
}

/** Removes what the generator adds for its own HTTP client. */
function tidy(text: string): string {
  return text
    .replace(/^\/\/ This file .*\n+/, "")
    .replace(/^export type ClientOptions = [^;]+;\n\};\n+/m, "");
}
