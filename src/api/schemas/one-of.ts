/**
 * Marks a schema that the document shows as a union: the ids of its variants. A request is checked by the schema itself,
 * because the errors of a union without a tag do not say which variant the caller meant.
 */
export const ONE_OF = "x-one-of";
