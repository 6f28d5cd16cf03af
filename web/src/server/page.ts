/** What the server wrote into the page. */

function meta(name: string): string {
  const content = document.querySelector<HTMLMetaElement>(`meta[name="errand-${name}"]`)?.content ?? "";
  // The development server of Vite does not fill in the values.
  return content.startsWith("{{") ? "" : content;
}

/** `viewer` and `editor` are guests of a share link: they see one run and have no account. */
export const VISITOR = (meta("visitor") || "member") as "member" | "viewer" | "editor";

/** The run of the address that was opened, if any. An address of a session does not contain it. */
export const OPENED_RUN = meta("run") || undefined;

const [fileBytes = 0, totalBytes = 0] = (meta("file-bytes") || "10485760 20971520").split(" ").map(Number);

/** How large the files of a request may be: one, and all together. The operator sets it. */
export const FILE_LIMITS = { fileBytes, totalBytes };

/** The run that an address of the app shows. */
export function runInAddress(path: string): string | undefined {
  return path.startsWith("/sessions/") ? OPENED_RUN : /^\/runs\/([^/]+)$/.exec(path)?.[1];
}
