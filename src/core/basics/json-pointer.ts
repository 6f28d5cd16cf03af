/** The JSON Pointer (RFC 6901) to what these names lead to. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((name) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
