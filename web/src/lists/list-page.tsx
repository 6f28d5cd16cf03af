import { Link } from "@tanstack/react-router";
import type { ComponentType, ReactNode } from "react";
import { NotFound } from "../frame/not-found.tsx";
import { PageHead } from "../frame/page-head.tsx";
import { CONFIGURE, OPERATE } from "../frame/places.ts";
import { Icon } from "../parts/icon.tsx";
import { Rules } from "../rules/rules.tsx";
import { useMay, type WriteScope } from "../server/rights.ts";
import {
  Agents,
  Audit,
  Environments,
  McpServers,
  People,
  Schedules,
  Secrets,
  Skills,
  Usage,
} from "./lists.tsx";

interface ListPlace {
  readonly what: string;
  readonly List: ComponentType;
  /** How the listed things are changed elsewhere. */
  readonly change: ReactNode;
  /** The page that creates one, for those who may. */
  readonly create?: { readonly to: string; readonly text: string; readonly scope: WriteScope };
}

const API = <a href="/docs">the API</a>;

const LISTS: Readonly<Record<string, ListPlace>> = {
  "/environments": {
    what: "Repositories, image and setup commands of runs.",
    List: Environments,
    change: (
      <>
        The command line (<code>errand environments</code>) and {API} create and change them as well.
      </>
    ),
    create: { to: "/environments/new", text: "New environment", scope: "settings:write" },
  },
  "/schedules": {
    what: "Runs that start at fixed times.",
    List: Schedules,
    change: (
      <>
        The command line (<code>errand schedules</code>) and {API} create and change them as well.
      </>
    ),
    create: { to: "/schedules/new", text: "New schedule", scope: "runs:write" },
  },
  "/skills": {
    what: "Instructions for agents from your repositories.",
    List: Skills,
    change: (
      <>
        A skill is a file <code>SKILL.md</code> in a repository of an environment.
      </>
    ),
  },
  "/secrets": {
    what: "Values that agents receive, encrypted. They are never shown.",
    List: Secrets,
    change: changedWith("errand secrets set"),
  },
  "/mcp-servers": {
    what: "Tools that your team shares with its agents.",
    List: McpServers,
    change: <>Add and change MCP servers with {API}.</>,
  },
  "/agents": {
    what: "Service accounts with defaults for their runs.",
    List: Agents,
    change: changedWith("errand agents create"),
  },
  "/rules": {
    what: "Who may do what, and which environment a request gets.",
    List: Rules,
    change: (
      <>
        The command line (<code>errand policies</code>) changes policies as well, and {API} changes both.
      </>
    ),
  },
  "/people": {
    what: "Members and programs of the team.",
    List: People,
    change: <>Add and change members with {API}.</>,
  },
  "/usage": {
    what: "Runs, time, tokens and cost of the last 30 days.",
    List: Usage,
    change: (
      <>
        Other groups and times: <code>errand usage --by creator --since 7d</code>
      </>
    ),
  },
  "/audit": {
    what: "Who changed what, and when. The newest 100 changes.",
    List: Audit,
    change: <>Read older changes with {API}.</>,
  },
};

/** `/environments`, `/people` and so on: what the server has. */
export function ListPage({ name }: { readonly name: string }) {
  const path = `/${name}`;
  const place = [...CONFIGURE, ...OPERATE].find((each) => each.path === path);
  const list = LISTS[path];
  if (place === undefined || list === undefined) {
    return <NotFound />;
  }
  const { change, create, List, what } = list;
  return (
    <div className="page" key={path}>
      <PageHead title={place.name} text={what}>
        {create && <CreateLink {...create} />}
      </PageHead>
      <List />
      <p className="muted sm gap-above">{change}</p>
    </div>
  );
}

function CreateLink({ scope, text, to }: NonNullable<ListPlace["create"]>) {
  return useMay(scope) ? (
    <Link className="btn" to={to}>
      <Icon name="plus" /> {text}
    </Link>
  ) : null;
}

function changedWith(command: string): ReactNode {
  return (
    <>
      Add and change them with the command line (<code>{command}</code>) or {API}.
    </>
  );
}
