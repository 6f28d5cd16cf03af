import { useQuery } from "@tanstack/react-query";
import { SelectField } from "../parts/field.tsx";
import { environmentsQuery } from "../server/queries.ts";

/** An environment by its uid. An empty text: none. `isForTeam`: only those that the whole team may use. */
export function EnvironmentField({
  value,
  isForTeam,
  problem,
  onChange,
}: {
  readonly value: string;
  readonly isForTeam: boolean;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}) {
  const { data } = useQuery(environmentsQuery);
  const offered = data?.environments.filter(({ scope }) => !isForTeam || scope?.type === "Team") ?? [];
  return (
    <SelectField
      label="Environment"
      problem={problem}
      value={value}
      options={[
        { value: "", name: "Team default" },
        ...offered.map(({ uid, config }) => ({ value: uid, name: config.name })),
      ]}
      onChange={onChange}
    />
  );
}
