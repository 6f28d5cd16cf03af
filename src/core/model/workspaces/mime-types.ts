const UNKNOWN = "application/octet-stream";

/** The type depends only on the file name. An agent cannot choose the type of its file, and no browser guesses it. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["css", "text/css"],
  ["csv", "text/csv"],
  ["diff", "text/x-diff"],
  ["gif", "image/gif"],
  ["gz", "application/gzip"],
  ["html", "text/html"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["js", "text/javascript"],
  ["json", "application/json"],
  ["log", "text/plain"],
  ["md", "text/markdown"],
  ["patch", "text/x-diff"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["svg", "image/svg+xml"],
  ["tar", "application/x-tar"],
  ["txt", "text/plain"],
  ["webp", "image/webp"],
  ["xml", "application/xml"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["zip", "application/zip"],
]);

export function mimeTypeOf(fileName: string): string {
  const extension = /\.([^.]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? "";
  return TYPES.get(extension) ?? UNKNOWN;
}
