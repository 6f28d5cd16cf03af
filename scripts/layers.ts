import { resolve } from "node:path";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import extractDepcruiseOptions from "dependency-cruiser/config-utl/extract-depcruise-options";

const RULES = resolve(import.meta.dirname, "../.dependency-cruiser.cjs");

export interface LayerReport {
  /** The number of files of the project that were inspected. */
  readonly moduleCount: number;
  /** One line each: the rule, the importing file, the imported file. */
  readonly violations: readonly string[];
}

/** The names of the rules in `.dependency-cruiser.cjs`. */
export async function listRules(): Promise<readonly string[]> {
  const { ruleSet } = await extractDepcruiseOptions(RULES);
  return (ruleSet?.forbidden ?? []).flatMap(({ name }) => name ?? []);
}

/** Checks the files below `root` against `.dependency-cruiser.cjs`. */
export async function inspectLayers(root: string, folders: readonly string[]): Promise<LayerReport> {
  const options = await extractDepcruiseOptions(RULES);
  const { output } = await cruise([...folders], { ...options, baseDir: root, outputType: "json" });
  // The reporter "json" returns text.
  const { modules, summary } = JSON.parse(String(output)) as ICruiseResult;
  return {
    moduleCount: modules.filter(({ source }) => folders.some((folder) => source.startsWith(`${folder}/`)))
      .length,
    violations: summary.violations.map(describe),
  };
}

function describe({ rule, from, to, cycle }: ICruiseResult["summary"]["violations"][number]): string {
  const way = cycle === undefined ? [to] : cycle.map(({ name }) => name);
  return [`${rule.name}: ${from}`, ...way].join(" -> ");
}
