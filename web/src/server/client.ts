import { Errand } from "@errand/client";

/** The pages use the public API like every other program. The browser authenticates with its cookie. */
export const client = new Errand({
  baseUrl: window.location.origin,
  apiKey: "",
  fetch: (url, init) => window.fetch(url, { ...init, credentials: "same-origin" }),
});
