import { readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The server of Errand that `npm run dev` sends the requests to. */
const SERVER = process.env.ERRAND_URL ?? "http://127.0.0.1:8787";

/** The server compares it with its own version. */
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** The server sends these files in place of the originals to browsers that accept them. */
async function compressFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const content = await readFile(file);
    if (content.length >= COMPRESSED_MIN && /\.(?:css|js|svg)$/.test(name)) {
      await Promise.all([
        writeFile(`${file}.br`, brotliCompressSync(content)),
        writeFile(`${file}.gz`, gzipSync(content)),
      ]);
    }
  }
}
/** In bytes. Shorter files fit into one packet anyway. */
const COMPRESSED_MIN = 1_000;

export default defineConfig({
  plugins: [
    react(),
    { name: "version", transformIndexHtml: (html) => html.replace("%VERSION%", version) },
    { name: "compressed", writeBundle: ({ dir = "" }) => compressFiles(join(dir, "app")) },
  ],
  resolve: {
    conditions: ["@errand/source", "module", "browser", "development|production"],
    // markdown-it needs one function of it.
    alias: { entities: new URL("src/run/text/entities.ts", import.meta.url).pathname },
  },
  build: {
    target: "es2023",
    assetsDir: "app",
    // Inlined files would be data: URLs, which the Content-Security-Policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
  },
  worker: { format: "es" },
  server: {
    proxy: { "/api": SERVER, "/signin": SERVER, "/signout": SERVER, "/assets": SERVER, "/healthz": SERVER },
  },
});
