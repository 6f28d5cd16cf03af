import { Errand } from "@errand/client";

/** The pages use the public API like every other program. The browser authenticates with its cookie. */
export const client = new Errand({
  baseUrl: globalThis.location.origin,
  apiKey: null,
  fetch: (url, init) => globalThis.fetch(url, { ...init, credentials: "same-origin" }),
});
