/** A key for all tries of one request. `crypto.randomUUID` does not exist on pages that are served without TLS. */
export function newRequestKey(): string {
  const parts = crypto.getRandomValues(new Uint32Array(4));
  return `page-${Array.from(parts, (part) => part.toString(36)).join("")}`;
}
