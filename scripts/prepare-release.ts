import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** The packages that a release publishes. Their registries show neither the files nor the history of this repository. */
export const PUBLISHED = ["cli", "clients/typescript", "clients/python"] as const;

export interface Place {
  /** `owner/name` on GitHub. */
  readonly repository: string;
  /** The version without `v`. */
  readonly version: string;
  /** The folder of the package. */
  readonly folder: string;
}

const addressOf = ({ repository }: Place): string => `https://github.com/${repository}`;

/** The links of the README as addresses of the released version. */
export function withAbsoluteLinks(readme: string, place: Place): string {
  return readme.replace(/(\]\()(?!https?:|#|mailto:)([^)\s]+)(\))/g, (_, before, link, after) => {
    const { hash, pathname } = new URL(link, `https://errand/${place.folder}/`);
    return `${before}${addressOf(place)}/blob/v${place.version}${pathname}${hash}${after}`;
  });
}

/** npm refuses a provenance whose repository is not that of the package. */
export function withRepository(manifest: string, place: Place): string {
  const url = addressOf(place);
  const links = {
    homepage: `${url}#readme`,
    repository: { type: "git", url: `git+${url}.git`, directory: place.folder },
    bugs: `${url}/issues`,
  };
  return `${JSON.stringify({ ...JSON.parse(manifest), ...links }, null, 2)}\n`;
}

export function withProjectUrls(project: string, place: Place): string {
  const url = addressOf(place);
  const urls = {
    Homepage: url,
    Documentation: `${url}/tree/v${place.version}/docs`,
    Repository: url,
    Issues: `${url}/issues`,
    Changelog: `${url}/blob/v${place.version}/CHANGELOG.md`,
  };
  const lines = Object.entries(urls).map(([name, address]) => `${name} = "${address}"`);
  return project.replace("[build-system]", `[project.urls]\n${lines.join("\n")}\n\n[build-system]`);
}

/** The section of the changelog with this version. */
export function notesOf(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${version}\n`));
  if (section === undefined) {
    throw new Error(`CHANGELOG.md has no section ${version}.`);
  }
  return `${section.slice(version.length).trim()}\n`;
}

/**
 * Writes the address of the repository into the packages, because it depends on who releases them, and the notes of the
 * release. Prints the version for the workflow.
 */
export async function prepareRelease(project: string, repository: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(project, "package.json"), "utf8")) as {
    version: string;
  };
  const edit = async (path: string, change: (text: string) => string) => {
    const file = join(project, path);
    await writeFile(file, change(await readFile(file, "utf8")));
  };
  for (const folder of PUBLISHED) {
    const place = { repository, version, folder };
    await edit(`${folder}/README.md`, (text) => withAbsoluteLinks(text, place));
    if (folder === "clients/python") {
      await edit(`${folder}/pyproject.toml`, (text) => withProjectUrls(text, place));
    } else {
      await edit(`${folder}/package.json`, (text) => withRepository(text, place));
    }
  }
  const changelog = await readFile(join(project, "CHANGELOG.md"), "utf8");
  await writeFile(join(project, "release-notes.md"), notesOf(changelog, version));
  return version;
}

if (import.meta.main) {
  const [repository = ""] = process.argv.slice(2);
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    throw new Error("Name the repository: node scripts/prepare-release.ts OWNER/NAME");
  }
  process.stdout.write(`version=${await prepareRelease(resolve(import.meta.dirname, ".."), repository)}\n`);
}
