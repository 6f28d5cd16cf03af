#!/usr/bin/env node
// Loads the bundle, which `npm run build` writes. This file is committed, so that npm can link the program before that.
import { existsSync } from "node:fs";
// A default import, because Node 20 has no `enableCompileCache` and would fail before the message below.
import module from "node:module";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const bundle = new URL("../dist/errand.js", import.meta.url);

if (major < 22 || (major === 22 && minor < 12)) {
  fail(`errand needs Node 22.12 or newer. This is Node ${process.versions.node}.`);
} else if (!existsSync(bundle)) {
  fail("errand is not built. Run npm ci without --omit=dev.");
} else {
  module.enableCompileCache?.();
  await import(bundle.href);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
