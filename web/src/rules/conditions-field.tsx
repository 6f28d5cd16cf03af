import { IconButton } from "../parts/icon-button.tsx";
import "./rules.css";
import { useQuery } from "@tanstack/react-query";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import type { ProblemAt } from "../edit/issues.ts";
import { FieldGroup } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Option, withValues } from "../parts/options.ts";
import { OFFERED_SOURCES, sourceOf } from "../parts/source.ts";
import { catalogueQuery, environmentsQuery, principalsQuery } from "../server/queries.ts";
import type { Condition, MatchDraft, OptionList } from "./conditions.ts";

/** The conditions of a rule. The user adds those that are needed. */
export function ConditionsField({
  conditions,
  match,
  none,
  problemAt,
  onChange,
}: {
  readonly conditions: readonly Condition[];
  /** What the rule applies to without conditions. */
  readonly none: string;
  readonly match: MatchDraft;
  readonly problemAt: ProblemAt;
  readonly onChange: (match: MatchDraft) => void;
}) {
  const lists = useOptionLists();
  const used = conditions.filter(({ name }) => match[name] !== undefined);
  const unused = conditions.filter(({ name }) => match[name] === undefined);
  const remove = (removed: string) =>
    onChange(Object.fromEntries(Object.entries(match).filter(([name]) => name !== removed)));
  return (
    <section aria-labelledby="conditions">
      <div className="section-head">
        <div>
          <h2 id="conditions">Applies to</h2>
          <p className="hint">
            {used.length === 0
              ? `${none} Add conditions to narrow it down.`
              : "All conditions must hold. A condition holds if one of its values does."}
          </p>
        </div>
        {unused.length > 0 && (
          <MenuTrigger>
            <Button className="btn">
              <Icon name="plus" /> Add a condition
            </Button>
            <Popover className="popover" placement="bottom end">
              <Menu
                aria-label="Add a condition"
                onAction={(name) => onChange({ ...match, [String(name)]: [] })}
              >
                {unused.map(({ name, label }) => (
                  <MenuItem className="option" id={name} key={name}>
                    {label}
                  </MenuItem>
                ))}
              </Menu>
            </Popover>
          </MenuTrigger>
        )}
      </div>
      <div className="conditions">
        {used.map((condition) => (
          <FieldGroup
            key={condition.name}
            label={condition.label}
            hint={condition.hint}
            problem={problemAt(`match.${condition.name}`)}
            action={
              <IconButton
                icon="close"
                name={`Remove the condition “${condition.label}”`}
                onClick={() => remove(condition.name)}
              />
            }
          >
            <Values
              condition={condition}
              lists={lists}
              values={match[condition.name] ?? []}
              onChange={(values) => onChange({ ...match, [condition.name]: values })}
            />
          </FieldGroup>
        ))}
      </div>
    </section>
  );
}

function Values({
  condition: { isSingle, label, name, options },
  lists,
  values,
  onChange,
}: {
  readonly condition: Condition;
  readonly lists: Readonly<Record<OptionList, readonly Option[]>>;
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
}) {
  if (options === undefined) {
    return (
      <textarea
        className="input"
        aria-label={`${label}, one on each line`}
        rows={Math.max(2, values.length)}
        value={values.join("\n")}
        onChange={({ target }) => onChange(target.value.split("\n"))}
      />
    );
  }
  const offered = typeof options === "string" ? lists[options] : options;
  return (
    <div className="condition-options">
      {withValues(offered, values).map((option) => (
        <label className="check" key={option.value}>
          <input
            type={isSingle ? "radio" : "checkbox"}
            name={name}
            checked={values.includes(option.value)}
            onChange={({ target: { checked } }) =>
              onChange(chosen(values, option.value, { checked, isSingle }))
            }
          />
          {option.name}
        </label>
      ))}
    </div>
  );
}

function chosen(
  values: readonly string[],
  value: string,
  { checked, isSingle }: { readonly checked: boolean; readonly isSingle: true | undefined },
): readonly string[] {
  if (isSingle) {
    return [value];
  }
  return checked ? [...values, value] : values.filter((each) => each !== value);
}

function useOptionLists(): Readonly<Record<OptionList, readonly Option[]>> {
  const { data: agents } = useQuery(catalogueQuery);
  const { data: environments } = useQuery(environmentsQuery);
  const { data: principals } = useQuery(principalsQuery);
  return {
    agents: (agents?.agents ?? []).map(({ name, display_name }) => ({ value: name, name: display_name })),
    environments: (environments?.environments ?? []).map(({ uid, config }) => ({
      value: uid,
      name: config.name,
    })),
    principals: (principals?.principals ?? []).map(({ uid, display_name, email }) => ({
      value: uid,
      name: display_name ?? email ?? uid,
    })),
    sources: OFFERED_SOURCES.map((value) => ({ value, name: sourceOf(value).name })),
  };
}
