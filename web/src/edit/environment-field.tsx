import { useQuery } from "@tanstack/react-query";
import { SelectField } from "../parts/field.tsx";
import { environmentsQuery } from "../server/queries.ts";

/** One of the environments that the whole team may use. An empty text: none. */
export function EnvironmentField({
  value,
  problem,
  onChange,
}: {
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}) {
  const { data } = useQuery(environmentsQuery);
  const ofTeam = data?.environments.filter(({ scope }) => scope?.type === "Team") ?? [];
  return (
    <SelectField
      label="Environment"
      problem={problem}
      value={value}
      options={[
        { value: "", name: "Team default" },
        ...ofTeam.map(({ uid, config }) => ({ value: uid, name: config.name })),
      ]}
      onChange={onChange}
    />
  );
}
