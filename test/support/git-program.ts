import { execFileSync } from "node:child_process";

/** Why tests of git are skipped here, or undefined. Where everything should be there, nothing is skipped. */
export function reasonToSkipGit(): string | undefined {
  try {
    execFileSync("git", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch (error) {
    if (process.env.CI === "true") {
      throw new Error("git must be there where CI=true", { cause: error });
    }
    return "there is no git";
  }
}
