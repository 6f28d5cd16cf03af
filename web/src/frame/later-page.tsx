import { NotFound } from "./not-found.tsx";
import { PageHead } from "./page-head.tsx";
import { CONFIGURE, OPERATE } from "./places.ts";

/** What the command line and the API offer until the page itself exists. */
const HOW: Readonly<Record<string, { readonly what: string; readonly command: string }>> = {
  "/environments": {
    what: "Repositories, image and setup commands of runs.",
    command: "errand environments list",
  },
  "/schedules": { what: "Runs that start at fixed times.", command: "errand schedules list" },
  "/skills": { what: "Instructions for agents from your repositories.", command: "errand skills list" },
  "/secrets": { what: "Values that agents receive, encrypted.", command: "errand secrets list" },
  "/mcp-servers": {
    what: "Tools that your team shares with its agents.",
    command: "errand api GET /agent/mcp-servers",
  },
  "/agents": { what: "Service accounts with defaults for their runs.", command: "errand agents list" },
  "/rules": {
    what: "Who may do what, and which environment a request gets.",
    command: "errand api GET /agent/policies",
  },
  "/people": {
    what: "Members, service accounts and their accounts elsewhere.",
    command: "errand api GET /agent/principals",
  },
  "/usage": { what: "Runs, time, tokens and cost.", command: "errand usage" },
  "/audit": { what: "Who changed what, and when.", command: "errand api GET /agent/audit" },
};

export function LaterPage({ name }: { readonly name: string }) {
  const place = [...CONFIGURE, ...OPERATE].find(({ path }) => path === `/${name}`);
  const how = HOW[`/${name}`];
  if (place === undefined || how === undefined) {
    return <NotFound />;
  }
  return (
    <div className="page">
      <PageHead title={place.name} text={how.what} />
      <div className="card pad">
        <p>This page does not exist yet. Until then, use the command line or the API:</p>
        <pre className="command">
          <code>{how.command}</code>
        </pre>
        <p>
          <a href="/docs">Reference of the API</a>
        </p>
      </div>
    </div>
  );
}
