import { say, sayProblem } from "./toasts.tsx";

/** Copies the text and says so. `what` names the text: `Link`, `Patch`. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    // Browsers have no clipboard for pages without TLS.
    if (navigator.clipboard === undefined) {
      throw new Error("Browsers let only pages with HTTPS copy. Select the text and copy it yourself.");
    }
    await navigator.clipboard.writeText(text);
    say(`${what} copied.`);
  } catch (error) {
    sayProblem(error);
  }
}
