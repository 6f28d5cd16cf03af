import { useQuery } from "@tanstack/react-query";
import { catalogueQuery } from "../server/queries.ts";
import { SelectField } from "./field.tsx";

/** The agent and its model. An empty text leaves the choice to the server. */
export function AgentFields({
  agent,
  model,
  problems = {},
  onChange,
}: {
  readonly agent: string;
  readonly model: string;
  readonly problems?: { readonly agent?: string; readonly model?: string };
  readonly onChange: (change: { readonly agent?: string; readonly model?: string }) => void;
}) {
  const { data } = useQuery(catalogueQuery);
  const agents = data?.agents.filter(({ usable }) => usable) ?? [];
  const standard = agents.find(({ is_default }) => is_default);
  const models = (agents.find(({ name }) => name === agent) ?? standard)?.models ?? [];
  return (
    <>
      <SelectField
        label="Agent"
        name="agent"
        problem={problems.agent}
        value={agent}
        options={[
          { value: "", name: standard === undefined ? "Default" : `Default: ${standard.display_name}` },
          ...agents
            .filter((each) => each !== standard)
            .map(({ name, display_name }) => ({ value: name, name: display_name })),
        ]}
        onChange={(value) => onChange({ agent: value, model: "" })}
      />
      <SelectField
        label="Model"
        name="model"
        problem={problems.model}
        value={model}
        options={[
          { value: "", name: "Default of the agent" },
          ...models.map(({ id, display_name }) => ({ value: id, name: display_name })),
        ]}
        onChange={(value) => onChange({ model: value })}
      />
    </>
  );
}
