import { formsOf } from "../secrets/redaction.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** Matches variable names, so that secrets of other programs are not shown either. */
export const SECRET_NAME = /(KEY|SECRET|TOKEN|PASSWORD)S?$/;

/** The values of the variables that hold secrets. */
export function secretsIn(env: Env): string[] {
  const values = Object.entries(env).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && value ? secretsOf(value) : [],
  );
  const passwords = [env.DATABASE_URL, env.DATABASE_DIRECT_URL].map((url = "") => passwordIn(url));
  return [...values, ...passwords.filter((password) => password !== "")];
}

/** The whole value, and each part of a comma-separated one. */
function secretsOf(value: string): string[] {
  const parts = value.split(",").map((part) => part.trim());
  return [...new Set([...parts, ...formsOf(value)])].filter((form) => form !== "");
}

function passwordIn(url: string): string {
  return URL.canParse(url) ? decodeURIComponent(new URL(url).password) : "";
}
