import type { Policy } from "@errand/client";
import { useState } from "react";
import { EditForm } from "../edit/edit-form.tsx";
import { EditPage, type Guard } from "../edit/edit-page.tsx";
import { Field, SelectField } from "../parts/field.tsx";
import type { Option } from "../parts/options.ts";
import { client } from "../server/client.ts";
import { POLICY_CONDITIONS } from "./conditions.ts";
import { ConditionsField } from "./conditions-field.tsx";
import { type PolicyDraft, policyDraftOf, policyIssuesOf, policyRequestOf } from "./policy-draft.ts";
import { NameField, OrderFields } from "./rule-fields.tsx";

/** `/rules/policies/new` and `/rules/policies/{id}`. */
export function PolicyPage({ id }: { readonly id: string }) {
  return (
    <EditPage
      what="policy"
      id={id}
      list="/rules"
      text="A policy says who may do what, from where, and what needs an approval. It applies within moments."
      scope="admin"
      read={(policyId, signal) => client.policies.retrieve(policyId, { signal }).withResponse()}
      remove={(policyId, based) => client.policies.delete(policyId, based)}
      consequence="What it decides is then decided by the policies after it, and last by the built-in ones."
    >
      {(policy, guard) => <PolicyForm policy={policy} guard={guard} />}
    </EditPage>
  );
}

const EFFECTS: readonly (Option & { readonly value: PolicyDraft["effect"]; readonly hint: string })[] = [
  {
    value: "require_approval",
    name: "Ask for approval",
    hint: "The agent gets the words after a person has approved them.",
  },
  { value: "deny", name: "Deny", hint: "The caller is refused and reads the reason." },
  { value: "allow", name: "Allow", hint: "No later policy denies it or asks for approval." },
];

const REFUSALS: readonly (Option & { readonly value: PolicyDraft["refusal"] })[] = [
  { value: "", name: "As the repository says, or by a comment" },
  { value: "comment", name: "By a comment with the reason" },
  { value: "reaction", name: "By a reaction" },
  { value: "silent", name: "Not at all" },
];

function PolicyForm({ policy, guard }: { readonly policy: Policy | undefined; readonly guard: Guard }) {
  const [draft, setDraft] = useState(() => policyDraftOf(policy));
  const change = (part: Partial<PolicyDraft>) => setDraft((before) => ({ ...before, ...part }));
  const save = () => {
    const request = policyRequestOf(draft);
    return policy === undefined
      ? client.policies.create(request)
      : guard((based) => client.policies.replace(policy.id, request, based));
  };
  return (
    <EditForm what="policy" list="/rules" check={() => policyIssuesOf(draft)} save={save}>
      {(problemAt) => (
        <>
          <div className="grid-2">
            <NameField
              name={draft.name}
              placeholder="Production waits for a second look"
              problemAt={problemAt}
              onChange={change}
            />
            <SelectField
              label="Effect"
              hint={EFFECTS.find(({ value }) => value === draft.effect)?.hint}
              problem={problemAt("effect")}
              value={draft.effect}
              options={EFFECTS}
              onChange={(effect) => change({ effect: effect as PolicyDraft["effect"] })}
            />
          </div>
          <ConditionsField
            conditions={POLICY_CONDITIONS}
            match={draft.match}
            none="Everything."
            problemAt={problemAt}
            onChange={(match) => change({ match })}
          />
          <Field
            label="Reason"
            hint="Callers who are refused or have to wait read it."
            problem={problemAt("reason")}
          >
            {(control) => (
              <input
                {...control}
                className="input"
                placeholder="Runs in production are approved by the platform team."
                value={draft.reason}
                onChange={({ target }) => change({ reason: target.value })}
              />
            )}
          </Field>
          {draft.effect === "deny" && (
            <SelectField
              label="A refused message is answered"
              hint="Integrations shows administrators each refused message with its reason."
              problem={problemAt("refusal")}
              value={draft.refusal}
              options={REFUSALS}
              onChange={(refusal) => change({ refusal: refusal as PolicyDraft["refusal"] })}
            />
          )}
          <OrderFields draft={draft} problemAt={problemAt} onChange={change} />
        </>
      )}
    </EditForm>
  );
}
