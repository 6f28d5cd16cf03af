import { Errand } from "@errand/client";

type Observer = (status: number | undefined) => void;
let observe: Observer = () => undefined;

/** Calls the observer with the status of each answer. Undefined: there was none. */
export function observeAnswers(observer: Observer): void {
  observe = observer;
}

async function send(url: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
  try {
    const response = await globalThis.fetch(url, { ...init, credentials: "same-origin" });
    observe(response.status);
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) {
      observe(undefined);
    }
    throw error;
  }
}

/** The pages use the public API like every other program. The browser authenticates with its cookie. */
export const client = new Errand({
  baseUrl: globalThis.location.origin,
  apiKey: null,
  fetch: send,
});
