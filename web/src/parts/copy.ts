import { say, sayProblem } from "./toasts.tsx";

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied.`);
  } catch (error) {
    sayProblem(error);
  }
}
