/** A JSON Schema of the OpenAPI document. */
interface Schema {
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

interface Operation {
  readonly deprecated?: boolean;
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const HEADER = "// Written by `npm run client:types` from docs/openapi.json. Do not edit.\n\n";
const API_PATH = "/api/v1";

/** The members that the response of each operation must have, by which the client recognizes another server. */
export function requiredMembers({ paths, components: { schemas } }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { deprecated }]) => deprecated !== true)
      .map(([method, { responses }]): [string, readonly string[]] => [
        `${method.toUpperCase()} ${path.replace(API_PATH, "").replaceAll(/\{\w+\}/g, "*")}`,
        commonMembers(Object.entries(responses).flatMap(successOf), schemas),
      ]),
  );
  const lines = operations
    .filter(([, members]) => members.length > 0)
    // Letters before `*`, so that the first that matches is the most exact.
    .sort(([one], [other]) => (one < other ? 1 : -1))
    .map(([operation, members]) => `  ["${operation}", "${members.join(" ")}"],\n`);
  return `${HEADER}/** Operations, with a \`*\` for each parameter, and the members that their responses must have. */\nexport const REQUIRED_MEMBERS: readonly (readonly [operation: string, members: string])[] = [\n${lines.join("")}];\n`;
}

function successOf([status, { content }]: [string, Response]): Schema[] {
  const schema = content?.["application/json"]?.schema;
  return status.startsWith("2") && schema !== undefined ? [schema] : [];
}

/** What all variants require. */
function commonMembers(variants: readonly Schema[], schemas: Document["components"]["schemas"]): string[] {
  const [first = [], ...others] = variants.map((schema) => membersOf(schema, schemas));
  return first.filter((member) => others.every((members) => members.includes(member)));
}

function membersOf(schema: Schema, schemas: Document["components"]["schemas"]): readonly string[] {
  const named = schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
  const variants = named.oneOf ?? named.anyOf;
  return variants === undefined ? (named.required ?? []) : commonMembers(variants, schemas);
}
