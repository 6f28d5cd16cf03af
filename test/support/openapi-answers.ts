import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { strictEventProblem, strictProblem } from "./strict-reader.ts";

/** An HTTP answer of the service, as far as the OpenAPI document describes it. */
export interface HttpAnswer {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
  readonly status: number;
  /** Empty: the answer has no body. */
  readonly contentType: string;
  /** Undefined: the body is not JSON, and only the status and the content type are checked. */
  readonly body: unknown;
}

export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, Answer>>;
  };
}
interface Operation {
  readonly responses: Readonly<Record<string, Answer | { readonly $ref: string }>>;
}
interface Answer {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

const API = "/api/v1/";
/** Addresses and methods that the document does not name are refused so. */
const WITHOUT_OPERATION = [400, 403, 404, 405];
/** HTTP itself asks for this refusal of an unknown `Expect` header, so no operation names it. */
const EXPECTATION_FAILED = 417;
const DOCUMENT = "https://errand.example/openapi.json";
const FILE = new URL("../../docs/openapi.json", import.meta.url);

/**
 * Checks answers against an OpenAPI document. Objects with named members allow no others, so
 * that nothing undocumented is accepted. A status or content type that the operation does not name is a mismatch too.
 */
export class AnswerJudge {
  readonly #document: OpenapiDocument;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #paths: readonly { readonly pattern: RegExp; readonly path: string }[];

  constructor(document: OpenapiDocument) {
    this.#document = document;
    formats.default(this.#ajv);
    this.#ajv.addSchema(JSON.parse(JSON.stringify(document), close), DOCUMENT);
    this.#paths = Object.keys(document.paths).map((path) => ({ path, pattern: patternOf(path) }));
  }

  /** Undefined: the answer agrees with the document, and a strict client can read it. */
  mismatch(answer: HttpAnswer): string | undefined {
    // The caller has left members out, also required ones.
    if (answer.status === 200 && /[?&]fields=/.test(answer.path)) {
      return undefined;
    }
    const reason = this.#reason(answer) ?? (isJson(answer.contentType) ? strictProblem(answer) : undefined);
    const { method, path, status, body } = answer;
    return reason && `${method} ${path} → ${status}: ${reason}\n${JSON.stringify(body)?.slice(0, 500)}`;
  }

  /** Undefined: an event of a stream agrees with the document, and a strict client can read it. */
  eventMismatch(event: unknown): string | undefined {
    const name = Object(event).kind === "reset" ? "StreamReset" : "RunEvent";
    const reason =
      this.judgeNamed(name, event) ?? (name === "RunEvent" ? strictEventProblem(event) : undefined);
    return reason && `An event of a stream: ${reason}\n${JSON.stringify(event)?.slice(0, 500)}`;
  }

  judgeNamed(name: string, body: unknown): string | undefined {
    return this.#judge(["components", "schemas", name], body);
  }

  #reason({ method, path, status, contentType, body }: HttpAnswer): string | undefined {
    const [address = ""] = path.split("?", 1);
    if (!address.startsWith(API) || address === `${API}openapi.json`) {
      return undefined;
    }
    const [type = ""] = contentType.split(";", 1);
    const place = this.#operation(method, address);
    if (place === undefined) {
      return WITHOUT_OPERATION.includes(status) ? this.judgeNamed("Error", body) : "is no operation";
    }
    const answer = this.#document.paths[place[1] ?? ""]?.[place[2] ?? ""]?.responses[String(status)];
    if (answer === undefined && status === EXPECTATION_FAILED) {
      return this.judgeNamed("Error", body);
    }
    if (answer === undefined) {
      return "the status is not documented";
    }
    const pointer = pointerTo(answer) ?? [...place, "responses", String(status)];
    const content =
      "$ref" in answer ? this.#document.components.responses[pointer[2] ?? ""]?.content : answer.content;
    if (content === undefined && type === "") {
      return undefined;
    }
    const documented = [type, "*/*"].find((each) => content?.[each] !== undefined);
    if (documented === undefined) {
      return `the content type ${type} is not documented`;
    }
    return isJson(documented) ? this.#judge([...pointer, "content", documented, "schema"], body) : undefined;
  }

  /** The place of the operation in the document. Of several that match, the one with the fewest placeholders. */
  #operation(method: string, address: string): readonly string[] | undefined {
    const matching = this.#paths.filter(({ pattern }) => pattern.test(address));
    const [best] = matching.toSorted((left, right) => placeholders(left.path) - placeholders(right.path));
    const name = method === "HEAD" ? "get" : method.toLowerCase();
    if (best === undefined || this.#document.paths[best.path]?.[name] === undefined) {
      return undefined;
    }
    return ["paths", best.path, name];
  }

  #judge(pointer: readonly string[], body: unknown): string | undefined {
    const $ref = `${DOCUMENT}#/${pointer.map(escaped).join("/")}`;
    const validate = this.#compiled.get($ref) ?? this.#ajv.compile({ $ref });
    this.#compiled.set($ref, validate);
    return validate(body) ? undefined : this.#ajv.errorsText(validate.errors);
  }
}

let judgeOfDocs: AnswerJudge | undefined;

/**
 * Judges by `docs/openapi.json`, which is the document of every server: a test compares the two. Building the document
 * from the routes would take longer than the start of a server.
 */
export function documentedJudge(): AnswerJudge {
  judgeOfDocs ??= new AnswerJudge(JSON.parse(readFileSync(FILE, "utf8")));
  return judgeOfDocs;
}

/** Undefined: the body is not JSON. */
export function jsonBody(contentType: string, text: string): unknown {
  return isJson(contentType) ? JSON.parse(text) : undefined;
}

function isJson(contentType: string): boolean {
  return /[/+]json\b/.test(contentType);
}

function pointerTo(answer: object): readonly string[] | undefined {
  return "$ref" in answer ? String(answer.$ref).split("/").slice(1) : undefined;
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** Examples are data, not schemas. */
function close(name: string, schema: unknown): unknown {
  if (name === "examples") {
    return undefined;
  }
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) {
    return schema;
  }
  return "additionalProperties" in schema ? schema : { ...schema, additionalProperties: false };
}

function patternOf(path: string): RegExp {
  const literal = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replace(/\{[^}]+\}/g, "[^/]+")}$`);
}

function placeholders(path: string): number {
  return path.split("{").length;
}
