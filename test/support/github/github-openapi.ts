import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { isRecord } from "../json.ts";

/** A request to GitHub's REST API. */
export interface GithubRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly body: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: object;
}
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}
interface Operation {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

const ADDRESS = "https://api.github.com/openapi.json";
const JSON_TYPE = "application/json";
/** GitHub redirects to them after a rename, and documents them in no other way. */
const UNDOCUMENTED = /^GET \/repositories\/\d+(\/installation)?$/;

let loaded: GithubOpenapi | undefined;

/**
 * GitHub's own description of its API, from the file that `GITHUB_OPENAPI` names: `generated/api.github.com.json` of the
 * package `@octokit/openapi`. Undefined without the variable.
 */
export function githubOpenapi(): GithubOpenapi | undefined {
  const file = process.env.GITHUB_OPENAPI;
  if (file) {
    loaded ??= new GithubOpenapi(JSON.parse(readFileSync(file, "utf8")));
  }
  return loaded;
}

export class GithubOpenapi {
  readonly #document: Document;
  readonly #ajv = new Ajv({ strict: false, validateSchema: false, logger: false });
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #paths: readonly { readonly path: string; readonly pattern: RegExp }[];

  constructor(document: Document) {
    this.#document = document;
    formats.default(this.#ajv);
    this.#ajv.addSchema(document, ADDRESS);
    // A path with fewer placeholders is the better match.
    const paths = Object.keys(document.paths).toSorted((a, b) => a.split("{").length - b.split("{").length);
    this.#paths = paths.map((path) => ({ path, pattern: patternOf(path) }));
  }

  /** Undefined: the request agrees with the document. */
  violation(request: GithubRequest): string | undefined {
    const { method, path } = request;
    if (UNDOCUMENTED.test(`${method} ${path}`)) {
      return undefined;
    }
    const reason = this.#reason(request);
    return reason && `${method} ${path}: ${reason}`;
  }

  #reason({ body, method, path, search }: GithubRequest): string | undefined {
    const name = method.toLowerCase();
    const found = this.#paths.find(
      (one) => one.pattern.test(path) && this.#document.paths[one.path]?.[name] !== undefined,
    );
    const operation = found && this.#document.paths[found.path]?.[name];
    if (found === undefined || operation === undefined) {
      return "there is no such operation";
    }
    const pointer = ["paths", found.path, name];
    const inPath = Object.entries(found.pattern.exec(path)?.groups ?? {});
    const values = {
      path: new Map(inPath.map(([parameter, value]) => [parameter, decodeURIComponent(value)])),
      query: new Map(new URLSearchParams(search)),
      header: new Map<string, string>(),
    };
    return this.#parameterReason(operation, pointer, values) ?? this.#bodyReason(operation, pointer, body);
  }

  #parameterReason(
    { parameters = [] }: Operation,
    pointer: readonly string[],
    values: Readonly<Record<Parameter["in"], ReadonlyMap<string, string>>>,
  ): string | undefined {
    const known = parameters.map((one, index) =>
      this.#parameterAt(one, [...pointer, "parameters", `${index}`]),
    );
    const unknown = [...values.query.keys()].find(
      (name) => !known.some((one) => one.in === "query" && one.name === name),
    );
    if (unknown !== undefined) {
      return `there is no parameter ${unknown}`;
    }
    for (const { in: place, name, pointer: at, required } of known) {
      const value = values[place].get(name);
      if (value === undefined && required && place === "query") {
        return `the parameter ${name} is missing`;
      }
      const validate = this.#validator([...at, "schema"]);
      if (value !== undefined && !readings(value).some((reading) => validate(reading))) {
        return `the parameter ${name} must not be ${value}`;
      }
    }
    return undefined;
  }

  #parameterAt(parameter: Parameter | { readonly $ref: string }, pointer: readonly string[]) {
    if (!("$ref" in parameter)) {
      return { ...parameter, pointer };
    }
    const name = parameter.$ref.split("/").at(-1) ?? "";
    const shared = this.#document.components.parameters[name];
    if (shared === undefined) {
      throw new Error(`The document has no parameter ${name}`);
    }
    return { ...shared, pointer: ["components", "parameters", name] };
  }

  #bodyReason({ requestBody }: Operation, pointer: readonly string[], body: unknown): string | undefined {
    if (body === undefined) {
      return requestBody?.required ? "a body is missing" : undefined;
    }
    const schema = requestBody?.content[JSON_TYPE]?.schema;
    if (schema === undefined) {
      return "it has no body";
    }
    const { properties } = this.#document.components.schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
    const unknown = isRecord(body) && properties && Object.keys(body).find((name) => !(name in properties));
    if (unknown) {
      return `the body has no member ${unknown}`;
    }
    const validate = this.#validator([...pointer, "requestBody", "content", JSON_TYPE, "schema"]);
    return validate(body) ? undefined : `body ${this.#ajv.errorsText(validate.errors)}`;
  }

  #validator(pointer: readonly string[]): ValidateFunction {
    const reference = `${ADDRESS}#/${pointer.map(escaped).join("/")}`;
    const compiled = this.#compiled.get(reference) ?? this.#ajv.compile({ $ref: reference });
    this.#compiled.set(reference, compiled);
    return compiled;
  }
}

/** The values that a text in an address may stand for. */
function readings(value: string): readonly unknown[] {
  return [value, Number(value), value === "true"];
}

function patternOf(path: string): RegExp {
  const named = path.replace(
    /\{(\w+)\}/g,
    (_place, name) => `(?<${name}>${name === "path" ? ".+" : "[^/]+"})`,
  );
  return new RegExp(`^${named}$`);
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
