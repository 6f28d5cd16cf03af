import type { RoutingRule } from "@errand/client";
import { useState } from "react";
import { EditForm } from "../edit/edit-form.tsx";
import { EditPage, type Guard } from "../edit/edit-page.tsx";
import { EnvironmentField } from "../edit/environment-field.tsx";
import { AgentFields } from "../parts/agent-fields.tsx";
import { Field } from "../parts/field.tsx";
import { client } from "../server/client.ts";
import { ROUTING_CONDITIONS } from "./conditions.ts";
import { ConditionsField } from "./conditions-field.tsx";
import { type RoutingDraft, routingDraftOf, routingIssuesOf, routingRequestOf } from "./routing-draft.ts";
import { NameField, OrderFields } from "./rule-fields.tsx";

/** `/rules/routing/new` and `/rules/routing/{id}`. */
export function RoutingRulePage({ id }: { readonly id: string }) {
  return (
    <EditPage
      what="routing rule"
      id={id}
      list="/rules"
      text="A routing rule gives an environment, an agent and instructions to requests that name none. It applies within moments."
      scope="admin"
      read={(ruleId, signal) => client.routingRules.retrieve(ruleId, { signal }).withResponse()}
      remove={(ruleId, based) => client.routingRules.delete(ruleId, based)}
      consequence="Its requests then go to the routing rules after it, and last to the default of the team."
    >
      {(rule, guard) => <RoutingRuleForm rule={rule} guard={guard} />}
    </EditPage>
  );
}

function RoutingRuleForm({ rule, guard }: { readonly rule: RoutingRule | undefined; readonly guard: Guard }) {
  const [draft, setDraft] = useState(() => routingDraftOf(rule));
  const change = (part: Partial<RoutingDraft>) => setDraft((before) => ({ ...before, ...part }));
  const save = () => {
    const request = routingRequestOf(draft);
    return rule === undefined
      ? client.routingRules.create(request)
      : guard((based) => client.routingRules.replace(rule.id, request, based));
  };
  return (
    <EditForm what="routing rule" list="/rules" check={() => routingIssuesOf(draft)} save={save}>
      {(problemAt) => (
        <>
          <div className="grid-2">
            <NameField name={draft.name} placeholder="The web shop" problemAt={problemAt} onChange={change} />
            <EnvironmentField
              value={draft.environment}
              isForTeam
              problem={problemAt("environment_id")}
              onChange={(environment) => change({ environment })}
            />
          </div>
          <ConditionsField
            conditions={ROUTING_CONDITIONS}
            match={draft.match}
            none="All messages from Slack and GitHub. Other requests need a condition on their source."
            problemAt={problemAt}
            onChange={(match) => change({ match })}
          />
          <div className="grid-2">
            <AgentFields agent={draft.agent} model={draft.model} onChange={change} />
          </div>
          <Field
            label="Instructions"
            hint="The agent gets them before the prompt."
            problem={problemAt("config.base_prompt")}
          >
            {(control) => (
              <textarea
                {...control}
                className="input"
                rows={3}
                placeholder="Answer in one paragraph."
                value={draft.instructions}
                onChange={({ target }) => change({ instructions: target.value })}
              />
            )}
          </Field>
          <OrderFields draft={draft} problemAt={problemAt} onChange={change} />
        </>
      )}
    </EditForm>
  );
}
