/** A schema of the document, as far as tests read it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly examples?: readonly unknown[];
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationJson>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}
interface OperationJson {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly security?: readonly unknown[];
}

/** One operation of the API. */
export interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly body: JsonSchema | undefined;
  readonly isPublic: boolean;
}

const METHODS = ["get", "post", "put", "patch", "delete"];

export function operationsOf({ paths }: ApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = operations[method];
      return operation === undefined ? [] : [toOperation(path, method.toUpperCase(), operation)];
    }),
  );
}

function toOperation(
  path: string,
  method: string,
  { parameters = [], requestBody, security }: OperationJson,
): Operation {
  return {
    name: `${method} ${path}`,
    method,
    path,
    query: parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name),
    body: requestBody?.content["application/json"]?.schema,
    isPublic: security?.length === 0,
  };
}

/** The path with every placeholder filled. */
export function addressOf(path: string, fill: (name: string) => string): string {
  return path.replace(/\{([^}]+)\}/g, (_place, name: string) => fill(name));
}

export function resolved(schema: JsonSchema, { components }: ApiDocument): JsonSchema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : (components.schemas[name] ?? {});
}
