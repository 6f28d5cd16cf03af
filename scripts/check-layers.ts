import { resolve } from "node:path";
import { inspectLayers } from "./layers.ts";

const ROOT = resolve(import.meta.dirname, "..");

/**
 * With TypeScript 7, dependency-cruiser finds no modules in TypeScript files. It then reports no violation and passes.
 * So this check also fails when too few modules were inspected.
 */
const MODULES_MIN = 100;

/** `npm run layers`: reports every import that `.dependency-cruiser.cjs` forbids. */
async function checkLayers(): Promise<number> {
  const { moduleCount, violations } = await inspectLayers(ROOT, [
    "src",
    "test",
    "scripts",
    "cli/src",
    "cli/test",
    "clients/typescript/src",
    "clients/typescript/test",
    "packages/embedded-postgres/src",
    "packages/embedded-postgres/test",
    "web/src",
  ]);
  for (const violation of violations) {
    console.error(violation);
  }
  console.error(`${moduleCount} modules inspected, ${violations.length} violations.`);
  if (moduleCount >= MODULES_MIN) {
    return violations.length === 0 ? 0 : 1;
  }
  console.error(
    `Fewer than ${MODULES_MIN} modules were inspected: the check itself is broken. Is TypeScript 6 installed?`,
  );
  return 1;
}

process.exitCode = await checkLayers();
