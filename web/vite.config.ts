import { readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The server of Errand that `npm run dev` sends the requests to. */
const SERVER = process.env.ERRAND_URL ?? "http://127.0.0.1:8787";

/** The server compares it with its own version. */
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

export default defineConfig({
  plugins: [react(), { name: "version", transformIndexHtml: (html) => html.replace("%VERSION%", version) }],
  resolve: { conditions: ["@errand/source", "module", "browser", "development|production"] },
  build: {
    target: "es2023",
    assetsDir: "app",
    // Inlined files would be data: URLs, which the Content-Security-Policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
  },
  worker: { format: "es" },
  server: { proxy: { "/api": SERVER, "/signin": SERVER, "/signout": SERVER, "/assets": SERVER } },
});
