import { z } from "zod";
import { problemOfName } from "../../core/model/secrets/secret.ts";

const SECRETS_MAX = 200;

const SecretRef = z
  .object({
    name: z
      .string()
      .superRefine((name, context) => {
        const message = problemOfName(name);
        if (message !== undefined) {
          context.addIssue({ code: "custom", message });
        }
      })
      .describe("The name of a secret of the team."),
  })
  .meta({ id: "SecretRef", description: "A secret of the team, by its name." });

/** A list of team secrets that runs are limited to. */
export const SecretList = z.array(SecretRef).max(SECRETS_MAX);

export function secretListOf(names: readonly string[]): z.output<typeof SecretList> {
  return names.map((name) => ({ name }));
}

export function secretNamesIn(list: z.output<typeof SecretList>): readonly string[] {
  return [...new Set(list.map(({ name }) => name))];
}
