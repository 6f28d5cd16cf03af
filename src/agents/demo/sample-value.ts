type Schema = Readonly<Record<string, unknown>>;

const DEPTH_MAX = 20;
/** What the server asks for at the end of a prompt, if the run has an output schema. */
const REQUEST =
  /\n*End your answer with one JSON value[^\n]*JSON Schema \(2020-12\):\n```json\n([^\n]*)\n```\s*$/;

/** The prompt without what it says about the form of the answer, and the schema that the answer must match. */
export function splitOutputRequest(prompt: string): { readonly text: string; readonly schema?: unknown } {
  const json = REQUEST.exec(prompt)?.[1];
  return json === undefined
    ? { text: prompt }
    : { text: prompt.replace(REQUEST, ""), schema: JSON.parse(json) };
}

/** A value with the required members. It matches simple schemas: it does not know `pattern`, `format` and `not`. */
export function sampleOf(schema: unknown, root = schema, depth = 0): unknown {
  if (!isSchema(schema) || depth > DEPTH_MAX) {
    return null;
  }
  const known = firstOf(schema, root);
  if (known !== schema) {
    return sampleOf(known, root, depth + 1);
  }
  if (schema.const !== undefined) {
    return schema.const;
  }
  if (Array.isArray(schema.enum)) {
    return schema.enum[0];
  }
  return sampleOfType(schema, (inner) => sampleOf(inner, root, depth + 1));
}

/** The schema that `$ref` names, or the first of several that each are enough. */
function firstOf(schema: Schema, root: unknown): unknown {
  if (typeof schema.$ref === "string") {
    const names = decodeURIComponent(schema.$ref).split("/").slice(1);
    return names.reduce<unknown>((at, name) => (isSchema(at) ? at[name] : undefined), root);
  }
  const choices = schema.anyOf ?? schema.oneOf;
  return Array.isArray(choices) ? choices[0] : schema;
}

function sampleOfType(schema: Schema, sample: (schema: unknown) => unknown): unknown {
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type ?? (isSchema(schema.properties) ? "object" : "string")) {
    case "object": {
      const properties = isSchema(schema.properties) ? schema.properties : {};
      const names: unknown[] = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
      return Object.fromEntries(names.map((name) => [name, sample(properties[String(name)] ?? {})]));
    }
    case "array":
      return Array.from({ length: Number(schema.minItems ?? 1) }, () => sample(schema.items ?? {}));
    case "integer":
    case "number":
      return Number(
        schema.minimum ?? (schema.exclusiveMinimum === undefined ? 1 : Number(schema.exclusiveMinimum) + 1),
      );
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "demo".padEnd(Number(schema.minLength ?? 0), ".").slice(0, Number(schema.maxLength ?? Infinity));
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
