import type { InstallationGuide } from "@errand/client";
import { useId } from "react";

type GuideCreation = NonNullable<InstallationGuide["create"]>;

/** The one step that replaces those below it. */
export function Creation({ create }: { readonly create: GuideCreation }) {
  const { inputs, text, title, url } = create;
  const heading = useId();
  return (
    <section className="card" aria-labelledby={heading}>
      <h2 className="sm" id={heading}>
        In one step
      </h2>
      <p className="muted sm">{text}</p>
      <form method="get" action={url}>
        {inputs.map(({ label, name }) => (
          <CreationInput key={name} label={label} name={name} />
        ))}
        <button type="submit" className="btn primary">
          {title}
        </button>
      </form>
      <p className="muted sm">The steps below do the same by hand.</p>
    </section>
  );
}

function CreationInput({ label, name }: GuideCreation["inputs"][number]) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input className="input" id={id} name={name} autoComplete="off" />
    </div>
  );
}
