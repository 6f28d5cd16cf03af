import type { DoctorCheck } from "@errand/client";
import { Icon } from "./icon.tsx";

const LOOKS = {
  ok: { icon: "stateDone", tone: "done", word: "Works" },
  warn: { icon: "warning", tone: "needs", word: "Look at this" },
  fail: { icon: "stateFailed", tone: "fail", word: "Fails" },
} as const;

/** The checks of the doctor, with what to do about those that do not pass. */
export function DoctorChecks({ checks }: { readonly checks: readonly DoctorCheck[] }) {
  return (
    <ul className="card checks">
      {checks.map(({ name, status, message, remedy }) => (
        <li key={name}>
          <span className={`state ${LOOKS[status].tone}`}>
            <Icon name={LOOKS[status].icon} />
            <span className="sr">{LOOKS[status].word}:</span>
          </span>
          <div>
            <p>
              <b>{readable(name)}</b> <span className="muted">{message}</span>
            </p>
            {remedy && <p className="muted">{remedy}</p>}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** `dead_notices` reads `Dead notices`, `github_app` reads `GitHub app`, and `public_url` reads `Public URL`. */
function readable(name: string): string {
  const words = name.replaceAll("_", " ");
  return (words.charAt(0).toUpperCase() + words.slice(1))
    .replace("Github", "GitHub")
    .replace(/\burl\b/, "URL");
}
