import { z } from "zod";
import { AppError, plainMessage } from "../../../core/basics/errors.ts";
import type { CallRepository } from "../routes.ts";
import type { ErrandFileSettings } from "./parse.ts";

/**
 * Puts the labels of the file on a new pull request. GitHub would create a label that the repository does not have, so
 * each is looked up before. Returns a sentence for each that it could not put.
 */
export async function addLabels(
  call: CallRepository,
  number: number,
  { labels, mistakeAt }: ErrandFileSettings,
): Promise<readonly string[]> {
  const remarks: string[] = [];
  const found: string[] = [];
  const attempt = async (words: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      const isUnknown = error.code === "resource_not_found";
      const problem = isUnknown ? "the repository has no such label." : plainMessage(error);
      remarks.push(mistakeAt("pull_request.labels", `could not be put (${words}): ${problem}`));
    }
  };
  for (const name of labels) {
    const route = "GET /repos/{owner}/{repo}/labels/{name}";
    await attempt(name, async () => {
      await call({ route, parameters: { name }, answer: z.unknown() });
      found.push(name);
    });
  }
  if (found.length > 0) {
    const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/labels";
    const parameters = { issue_number: number, labels: found };
    await attempt(found.join(", "), () => call({ route, parameters, answer: z.unknown() }));
  }
  return remarks;
}
