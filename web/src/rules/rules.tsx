import type { Policy, RoutingRule } from "@errand/client";
import { Link } from "@tanstack/react-router";
import { type Column, ListTable, Named } from "../lists/list-table.tsx";
import { useNames } from "../lists/names.ts";
import { Icon } from "../parts/icon.tsx";
import { OFFERED_SOURCES, sourceOf } from "../parts/source.ts";
import { client } from "../server/client.ts";
import { useMay } from "../server/rights.ts";
import { matchText, POLICY_CONDITIONS, ROUTING_CONDITIONS } from "./conditions.ts";

const EFFECTS: Readonly<Record<Policy["effect"], string>> = {
  allow: "Allows",
  deny: "Denies",
  require_approval: "Asks for approval",
};

/** The policies and routing rules of the team, in the order in which they are evaluated. */
export function Rules() {
  const may = useMay("admin");
  const names = new Map<string, string>([
    ...useNames(),
    ...OFFERED_SOURCES.map((source) => [source, sourceOf(source).name] as const),
  ]);
  if (may === false) {
    return (
      <div className="note">
        <Icon name="secrets" />
        <p className="grow">Administrators of the team see and change its rules.</p>
      </div>
    );
  }
  const policies: readonly Column<Policy>[] = [
    [
      "Name",
      ({ builtin, id, name, reason }) => (
        <Named name={name} text={reason} {...(builtin ? {} : { to: `/rules/policies/${id}` })} />
      ),
    ],
    ["Effect", ({ effect, enabled }) => <span className="nowrap">{enabled ? EFFECTS[effect] : "Off"}</span>],
    ["Applies to", ({ match }) => matchText(match, POLICY_CONDITIONS, names) ?? "Everything"],
    ["Priority", ({ builtin, priority }) => (builtin ? "" : priority)],
  ];
  const routes: readonly Column<RoutingRule>[] = [
    ["Name", ({ id, name }) => <Named name={name} to={`/rules/routing/${id}`} />],
    ["Environment", ({ environment_id: id = "" }) => names.get(id) ?? id],
    [
      "Applies to",
      ({ enabled, match }) =>
        enabled
          ? (matchText(match, ROUTING_CONDITIONS, names) ?? "All messages from Slack and GitHub")
          : "Off",
    ],
    ["Priority", ({ priority }) => priority],
  ];
  return (
    <>
      <section className="section">
        <div className="section-head">
          <div>
            <h2>Who may do what</h2>
            <p className="muted sm">The first policy that applies decides.</p>
          </div>
          <Link className="btn" to="/rules/policies/$id" params={{ id: "new" }}>
            <Icon name="plus" /> New policy
          </Link>
        </div>
        <ListTable
          what="policies"
          read={async (signal) => (await client.policies.list({ signal })).policies}
          keyOf={({ id }) => id}
          columns={policies}
          none="There is no policy."
        />
      </section>
      <section className="section">
        <div className="section-head">
          <div>
            <h2>Which environment a request gets</h2>
            <p className="muted sm">
              For requests that name none. The first routing rule that applies decides.
            </p>
          </div>
          <Link className="btn" to="/rules/routing/$id" params={{ id: "new" }}>
            <Icon name="plus" /> New routing rule
          </Link>
        </div>
        <ListTable
          what="routing rules"
          read={async (signal) => (await client.routingRules.list({ signal })).routing_rules}
          keyOf={({ id }) => id}
          columns={routes}
          none="There is no routing rule: a request without an environment gets the default of the team."
        />
      </section>
    </>
  );
}
