const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
const OUR_PAGES = new RegExp(`^/(?:(?:runs|sessions)/${UUID})?$`);

/** Where to go after signing in. Only our own pages: a link that somebody else made must not lead elsewhere. */
export function returnPath(wanted: unknown): string {
  return typeof wanted === "string" && OUR_PAGES.test(wanted) ? wanted : "/";
}
