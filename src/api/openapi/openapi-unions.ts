import { ONE_OF } from "../schemas/marks.ts";

type Schema = Readonly<Record<string, unknown>>;

const PLACE = "#/components/schemas/";

/** Completes the unions: variants that are named only, and the member that tells variants apart, if there is one. */
export function describeUnions<T>(document: T, schemas: Schema): T {
  return JSON.parse(JSON.stringify(document), (name, value) => {
    if (name === "examples" || !isSchema(value)) {
      return value;
    }
    const { [ONE_OF]: ids, description, examples } = value;
    return Array.isArray(ids)
      ? { description, examples, oneOf: ids.map((id) => ({ $ref: `${PLACE}${id}` })) }
      : withDiscriminator(value, schemas);
  });
}

function withDiscriminator(union: Schema, schemas: Schema): Schema {
  const references = referencesOf(union.oneOf ?? union.anyOf);
  if (references === undefined || union.discriminator !== undefined) {
    return union;
  }
  const discriminator = discriminatorOf(references, schemas);
  return discriminator === undefined ? union : { ...union, discriminator };
}

function referencesOf(variants: unknown): readonly string[] | undefined {
  const references = Array.isArray(variants) ? variants.map((variant) => Object(variant).$ref) : [];
  return references.length > 1 && references.every((ref) => typeof ref === "string") ? references : undefined;
}

function discriminatorOf(references: readonly string[], schemas: Schema): object | undefined {
  const variants = references.map((reference) => Object(schemas[reference.slice(PLACE.length)]).properties);
  const propertyName = Object.keys(Object(variants[0])).find((name) =>
    variants.every((properties) => typeof Object(Object(properties)[name]).const === "string"),
  );
  if (propertyName === undefined) {
    return undefined;
  }
  const constants = variants.map((properties) => properties[propertyName].const);
  return { propertyName, mapping: Object.fromEntries(constants.map((value, at) => [value, references[at]])) };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
